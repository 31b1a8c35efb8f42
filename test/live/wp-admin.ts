// A signed-in wp-admin user: sends the requests of its pages, with their nonces.

type Fields = Record<string, string>;

export interface Saved {
  id: number;
  status: string;
  modified_gmt: string;
}

export interface WpAdmin {
  /** Sends a request of the block editor: REST API with cookie and nonce. Throws on an error. */
  editor(method: 'GET' | 'POST' | 'DELETE', route: string, json?: object): Promise<Saved>;
  /** Opens "Add new" and returns the id of the draft that WordPress creates. */
  addNew(type: string): Promise<number>;
  /** Submits "Quick Edit" in the list of a post type. */
  quickEdit(type: string, id: number, fields: Fields): Promise<void>;
  /** Submits the form with the gateway's fields, which the editor sends after the post. */
  detailsForm(id: number, fields: Fields): Promise<void>;
  /** Follows a row action's link: trash, untrash, delete. `status`: the list that contains the row. */
  rowAction(type: string, id: number, action: 'trash' | 'untrash' | 'delete', status?: string): Promise<void>;
  /** Submits "Quick Edit" in the list of a taxonomy. */
  renameTerm(taxonomy: string, id: number, fields: { name: string; slug: string }): Promise<void>;
  /** Follows "Delete" in the list of a taxonomy. */
  deleteTerm(taxonomy: string, id: number): Promise<void>;
  /** Uses "Edit Image", rotate left, "Save": new files under the same attachment. */
  turnImage(id: number): Promise<void>;
}

/** Signs in. Throws if a page lacks the expected form. */
export async function signIn(siteUrl: string, user: string, password: string): Promise<WpAdmin> {
  const cookies = new Map<string, string>([['wordpress_test_cookie', 'WP+Cookie+check']]);

  async function ask(path: string, form?: Fields, headers: Fields = {}): Promise<string> {
    const response = await fetch(siteUrl + path, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; '), ...headers },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]!.split(/=(.*)/s);
      cookies.set(name, value);
    }
    const text = await response.text();
    if (response.status >= 400)
      throw new Error(`${path}: ${response.status} ${text.replace(/<[^>]*>/g, ' ').slice(0, 300)}`);
    return text;
  }

  /** The first match of an expression in a page, with `&amp;` decoded. */
  async function find(path: string, pattern: RegExp): Promise<string> {
    const match = pattern.exec(await ask(path))?.[1];
    if (match === undefined) throw new Error(`${path} has no ${pattern}`);
    return match.replaceAll('&#038;', '&').replaceAll('&amp;', '&');
  }
  const hidden = (name: string) => new RegExp(`name=["']${name}["'][^>]*value=["']([^"']*)["']`);

  async function ajax(form: Fields): Promise<string> {
    const text = await ask('/wp-admin/admin-ajax.php', form);
    if (text === '0' || text === '-1') throw new Error(`${form.action}: refused with ${text}`);
    return text;
  }

  await ask('/wp-login.php', { log: user, pwd: password, testcookie: '1' });
  if (![...cookies.keys()].some((name) => name.startsWith('wordpress_logged_in_'))) throw new Error('wrong password');
  const restNonce = await ask('/wp-admin/admin-ajax.php?action=rest-nonce');

  return {
    async editor(method, route, json) {
      const response = await fetch(`${siteUrl}/wp-json/wp/v2/${route}`, {
        method,
        headers: {
          cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
          'x-wp-nonce': restNonce,
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        ...(json ? { body: JSON.stringify(json) } : {}),
      });
      const body = (await response.json()) as Saved;
      if (!response.ok) throw new Error(`${method} ${route}: ${JSON.stringify(body)}`);
      return body;
    },
    addNew: async (type) => Number(await find(`/wp-admin/post-new.php?post_type=${type}`, hidden('post_ID'))),
    async quickEdit(type, id, fields) {
      const nonce = await find(`/wp-admin/edit.php?post_type=${type}`, hidden('_inline_edit'));
      await ajax({
        action: 'inline-save',
        ...{ post_type: type, post_ID: String(id), _inline_edit: nonce, screen: `edit-${type}`, post_view: 'list' },
        ...fields,
      });
    },
    async detailsForm(id, fields) {
      const page = await ask(`/wp-admin/post.php?post=${id}&action=edit`);
      const first = (pattern: RegExp) => {
        const match = pattern.exec(page)?.[1];
        if (match === undefined) throw new Error(`the edit screen has no ${pattern}`);
        return match;
      };
      const value = (name: string) => first(hidden(name));
      const loader = new URL(JSON.parse(first(/_wpMetaBoxUrl = ("[^"]*")/)) as string, siteUrl);
      await ask(loader.pathname + loader.search, {
        ...{ action: 'editpost', post_ID: String(id) },
        ...Object.fromEntries(['_wpnonce', 'calendar_gateway_nonce', 'post_type'].map((name) => [name, value(name)])),
        ...Object.fromEntries(Object.entries(fields).map(([name, text]) => [`calendar_gateway[${name}]`, text])),
      });
    },
    async rowAction(type, id, action, status = 'all') {
      const list = type === 'attachment' ? '/wp-admin/upload.php?mode=list' : `/wp-admin/edit.php?post_type=${type}`;
      const and = '&(?:amp;|#038;)';
      const both = `(?:post=${id}${and}action=${action}|action=${action}${and}post=${id})`;
      const link = `href=["']([^"']*post\\.php\\?${both}${and}[^"']*)["']`;
      const address = await find(`${list}&post_status=${status}`, new RegExp(link));
      const { pathname, search } = new URL(address, `${siteUrl}/wp-admin/`);
      await ask(pathname + search);
    },
    async renameTerm(taxonomy, id, fields) {
      const nonce = await find(`/wp-admin/edit-tags.php?taxonomy=${taxonomy}`, hidden('_inline_edit'));
      await ajax({ action: 'inline-save-tax', taxonomy, tax_ID: String(id), _inline_edit: nonce, ...fields });
    },
    async deleteTerm(taxonomy, id) {
      const link = new RegExp(
        `action=delete&(?:amp;|#038;)taxonomy=${taxonomy}&(?:amp;|#038;)tag_ID=${id}&(?:amp;|#038;)_wpnonce=(\\w+)`,
      );
      const nonce = await find(`/wp-admin/edit-tags.php?taxonomy=${taxonomy}`, link);
      await ajax({ action: 'delete-tag', taxonomy, tag_ID: String(id), _wpnonce: nonce });
    },
    async turnImage(id) {
      const nonce = await find(
        `/wp-admin/post.php?post=${id}&action=edit`,
        new RegExp(`imageEdit\\.open\\( ?${id}, ["'](\\w+)["']`),
      );
      const history = JSON.stringify([{ r: 90 }]);
      const saved = await ajax({
        ...{ action: 'image-editor', do: 'save', target: 'all', context: 'edit-attachment', history },
        ...{ postid: String(id), _ajax_nonce: nonce },
      });
      if (!saved.includes('Image saved')) throw new Error(`the image was not saved: ${saved.slice(0, 300)}`);
    },
  };
}
