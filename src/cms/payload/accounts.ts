// Who calls: reads Payload's accounts and their access, and names the permissions of each collection.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { CmsRejected, ifRejected } from '../../errors.ts';
import { isObject, objectOrEmpty } from '../../model/json.ts';
import type { RestCall } from '../client.ts';
import {
  ACTIONS,
  type Account,
  type Action,
  type ActionPermissions,
  type CallOptions,
  type Cms,
  type CmsRecord,
  type CollectionSpec,
} from '../port.ts';
import { objectOf } from '../response.ts';
import type { PayloadSite } from './records.ts';

export type Accounts = ReturnType<typeof createAccounts>;

/** Payload's permissions have no names: `events:editOthers`. */
const permissionName = (collection: string, action: Action): string => `${collection}:${action}`;

const permissionNames = (collection: string): ActionPermissions =>
  Object.fromEntries(ACTIONS.map((action) => [action, permissionName(collection, action)])) as ActionPermissions;

/** Accounts are kept for a minute: so a list of several pages asks only once whether the caller may edit. */
const RECENT = { max: 1000, ttl: 60_000 };

export function createAccounts(call: RestCall, { ids, users, media, specs }: PayloadSite) {
  const hashKey = randomBytes(32);
  /** By a keyed hash of the credentials. */
  const recent = new LRUCache<string, Account>(RECENT);

  async function account(options: CallOptions): Promise<Account> {
    const [me, access] = await Promise.all([
      call('GET', `${users}/me`, { query: { depth: 0 } }, options).then(objectOf),
      call('GET', 'access', {}, options).then(objectOf),
    ]);
    const user = isObject(me.user) ? me.user : undefined;
    const userId = ids.toGateway('account', user?.id);
    // Payload takes a caller whose credentials it does not know for an anonymous one.
    if (user === undefined || userId === undefined) throw unknownAccount(users, options.credentials);
    const operationsOf = (collection: string) => objectOrEmpty(objectOrEmpty(access.collections)[collection]);
    const granted = specs.flatMap(({ collection }) =>
      grantedActions(operationsOf(collection)).map((action) => permissionName(collection, action)),
    );
    return {
      userId,
      roles: [user.role, user.roles].flat().filter((role) => typeof role === 'string'),
      permissions: new Set(granted),
      mayUpload: isGranted(operationsOf(media).create),
    };
  }

  async function recentAccount(credentials: string, options: CallOptions): Promise<Account> {
    const hash = createHmac('sha256', hashKey).update(credentials).digest('base64');
    const known = recent.get(hash);
    if (known) return known;
    const found = await account(options);
    recent.set(hash, found);
    return found;
  }

  const port: Pick<Cms, 'readLogin' | 'account' | 'accountExists' | 'collectionInfo'> = {
    readLogin: (authorization) => (/^\S+\s+\S/.test(authorization) ? { kind: 'token' } : undefined),
    account,

    async accountExists(id, options) {
      const cmsId = ids.toPayload('account', id);
      if (cmsId === undefined) return false;
      const query = { depth: 0, 'select[id]': true };
      return call('GET', `${users}/${encodeURIComponent(cmsId)}`, { query }, options).then(
        () => true,
        ifRejected(({ kind }) => kind !== 'not-found'),
      );
    },

    collectionInfo: async ({ collection }) => ({
      permissions: permissionNames(collection),
      // Payload does not show its schema.
      writableFields: undefined,
    }),
  };

  return {
    ...port,
    /**
     * Throws `CmsRejected` `forbidden` unless the caller may edit. Payload itself refuses no list: it would leave out
     * the drafts, and take a caller with an invalid key for an anonymous one.
     */
    async assertMayEdit({ collection }: CollectionSpec, options: CallOptions): Promise<void> {
      const { credentials } = options;
      const caller = credentials === undefined ? undefined : await recentAccount(credentials, options);
      if (!caller?.permissions.has(permissionName(collection, 'edit')))
        throw new CmsRejected('forbidden', `This account may not do that with "${collection}".`);
    },
  };
}

const unknownAccount = (users: string, credentials = ''): CmsRejected =>
  new CmsRejected(
    isOwnScheme(credentials) ? 'unauthenticated' : 'unknown-scheme',
    `The CMS knows no account of "${users}" with these credentials.`,
  );

/** `users API-Key ...`, and the two schemes of a JSON Web Token. */
const isOwnScheme = (credentials: string): boolean => /^(?:Bearer |JWT |\S+ API-Key )/.test(credentials);

/** An operation of `/access` is `true`, absent, or limited to some records: `{permission: true, where: {...}}`. */
const isGranted = (operation: unknown): boolean =>
  operation === true || (isObject(operation) && operation.permission === true);

/** The actions that the site's access functions allow: `true` allows all records, a limit perhaps only one's own. */
function grantedActions({ create, read, update }: CmsRecord): Action[] {
  const isEditor = isGranted(create) || isGranted(update);
  const granted: Record<Action, boolean> = {
    edit: isEditor,
    publish: isEditor,
    editPublished: isGranted(update),
    editOthers: update === true,
    // With a limit too: Payload leaves out of its lists what the caller may not read.
    readOwn: isGranted(read),
    readOthers: isGranted(read),
    readPrivate: isGranted(read),
    manageTerms: create === true && update === true,
  };
  return ACTIONS.filter((action) => granted[action]);
}
