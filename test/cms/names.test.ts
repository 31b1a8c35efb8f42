// Where a CMS is named and nothing else would miss a further one: each of these places names every CMS.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CMS_RULES } from '../../src/mapping/cms-rules.ts';
import schema from '../../src/mapping/mapping.schema.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');

/** What each place says of each CMS: `grep -ni payload FILE` shows it of Payload. */
const PLACES = {
  'src/observability/log.ts': 'what in its messages is no credential',
  'src/config-schema.ts': 'what its service account has as password',
  'src/cli/commands.ts': 'what `plugin` prints for it',
  'src/cli/init/options.ts': 'what user and password are there, and what `init` writes',
  'src/cli/init/init.ts': 'a row of PROPOSERS',
  'src/cli/check/reads.ts': 'what shows its records to visitors',
  'src/cli/check/trials.ts': 'whether a custom field may publish a draft',
  'src/cli/open-site.ts': 'rows of ADAPTERS and REST_CALLS',
  'src/gateway.ts': 'a branch of openCms',
  'src/cms/port.ts': 'what the mapping says of its site (SiteSpec)',
  'src/mapping/mapping-file.ts': 'a row of SiteSpecs',
  'src/mapping/mapping.schema.json': 'upstream, allOf, an object for the site, one for a kind',
  'package.json': 'the file of its plugin, a script for its tests',
  'deploy/Dockerfile': 'the file of its plugin',
  '.gitignore': 'the folders of its sandbox and its demo',
  '.ci/run': 'a step with its tests',
  'CHANGELOG.md': 'that it is supported',
  'README.md': 'the table of what works with which CMS',
  'CONTRIBUTING.md': 'where its adapter has what a CMS must have',
  'test/README.md': 'its fake site and its recordings',
  'sandbox/README.md': 'its sandbox',
  'docs/setup.md': 'account, plugin and what else is different',
  'docs/mapping.md': 'its mapping',
  'docs/scaling.md': 'whether several gateways can be in front of it',
  'docs/operations.md': 'whether it has an id map to back up',
  'docs/configuration.md': 'generated from config-schema.ts',
  'docs/differences.md': 'what is different in front of it',
  'docs/api.md': 'how a caller logs in',
  'examples/README.md': 'its plugin',
  'sandbox/sandbox.ts': '--cms',
  'sandbox/demo.ts': '--cms',
  'sandbox/demo-sites.ts': 'its demo',
  'sandbox/packages.ts': 'what npm installs for its sandbox',
  'sandbox/paths.ts': 'the folder of its sandbox',
  'sandbox/town/fill.ts': 'how the demo uploads an image to it',
  'test/cms/implementations.ts': 'its ContractSubject: begin here',
  'test/cms/contract.test.ts': 'that its recording fulfils the contract',
  'test/cms/contract-table.ts': 'that a new site of it does',
  'test/faults/cms-client.test.ts': 'that its adapter sends the user agent',
  'test/record/record.ts': 'its recording',
  'test/temporary-site.ts': 'a new site of it for one script',
  'test/mapping/mapping-reference.test.ts': 'its column of the reference',
  'test/mapping/mapping-file.test.ts': 'mappings of it that are refused',
  'test/cli/commands.test.ts': 'that `plugin` prints its plugin',
  'test/live/package.ts': 'that the package has its plugin',
  'test/model/event-state.test.ts': 'that its sandbox has every word of event_status',
  'test/gateway.test.ts': 'a webhook about its images',
  'test/calendar/changed-terms.test.ts': 'a change of one of its terms',
  'test/interface/openapi.test.ts': 'its login in the OpenAPI document',
};

/** Of the CMS alone. */
const ownFiles = (cms: string): string[] => [
  ...[`src/cms/${cms}/${cms}.ts`, `src/cli/check/${cms}.ts`, `mappings/${cms}.json`, `examples/${cms}`],
  ...[`sandbox/${cms}`, `sandbox/${cms}-site.ts`, `test/cms/${cms}`, `test/${cms}`, `test/cli/fake-${cms}.ts`],
  ...[`test/cli/${cms}-problems.test.ts`, `test/cli/init/${cms}.test.ts`, `test/cli/check/${cms}-advice.test.ts`],
  ...[`test/examples/${cms}-webhooks.test.ts`, `test/${cms}/.mocharc.json`, `test/fixtures/contract-${cms}.json`],
];

// WordPress, the first one, is meant where no name is said.
for (const cms of Object.keys(CMS_RULES).filter((name) => name !== 'wordpress'))
  describe(`the CMS ${cms}`, () => {
    for (const [file, says] of Object.entries(PLACES))
      it(`is named in ${file}: ${says}`, () => {
        expect(readFileSync(join(ROOT, file), 'utf8').toLowerCase()).to.include(cms);
      });

    it('has its place in the schema of mappings', () => {
      const { properties, allOf } = schema;
      expect(properties.upstream.enum).to.include(cms);
      expect(properties).to.have.property(cms);
      expect(allOf.map((rule) => rule.if.properties.upstream.const)).to.include(cms);
    });

    for (const path of ownFiles(cms))
      it(`has ${path}`, () => {
        expect(existsSync(join(ROOT, path))).to.equal(true);
      });
  });
