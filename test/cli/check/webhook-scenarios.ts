// The situations of advice-scenarios.ts for the advice about webhooks.

import { advise } from '../../../src/cli/check/wordpress/advice.ts';
import { normal, type Scenario } from './advice-scenarios.ts';

const SECRET = 'shared between both';

export const WEBHOOK_SCENARIOS: readonly Scenario[] = [
  {
    id: 'webhook-signature',
    advice: () => advise('webhook-signature'),
    row: 'gateway webhooks',
    before: { write: true, webhookSecret: 'of another gateway', config: { webhook: { secret: SECRET } } },
    follow: { webhookSecret: SECRET },
  },
  {
    id: 'webhook-missing',
    advice: () => advise('webhook-missing', 0),
    row: 'gateway webhooks',
    before: { write: true, config: { webhook: { secret: SECRET } } },
    follow: { webhookSecret: SECRET },
  },
  {
    id: 'webhook-kind',
    advice: (pluginOptions) => advise('webhook-kind', pluginOptions),
    row: 'gateway webhooks',
    before: {
      write: true,
      config: { webhook: { secret: SECRET } },
      webhookSecret: SECRET,
      mapping: { venue: { posts: 'halls' } },
      options: {
        types: [normal().gigs, { type: 'hall', base: 'halls', label: 'Halls', records: [] }],
      },
    },
    follow: { webhookCollections: 'gigs halls' },
  },
  {
    id: 'webhook-untried',
    advice: () => advise('webhook-untried'),
    row: 'gateway webhooks',
    before: { write: true, config: { webhook: { secret: SECRET } }, webhookSecret: SECRET, event: { readOnly: true } },
    follow: { event: { readOnly: false } },
  },
];
