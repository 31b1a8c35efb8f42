// Where a CMS is named and nothing else would miss a further one: each of these places names every CMS.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CMS_RULES } from '../../src/mapping/cms-rules.ts';
import schema from '../../src/mapping/mapping.schema.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');

/** With a row, a branch or a word for each CMS: `grep -ni payload FILE` shows that of Payload. */
const PLACES = `
  src/observability/log.ts src/config-schema.ts src/cli/commands.ts src/cli/init/options.ts
  src/cli/init/init.ts src/cli/check/reads.ts src/cli/check/trials.ts src/cli/open-site.ts src/gateway.ts
  src/cms/port.ts src/mapping/mapping-file.ts src/mapping/mapping.schema.json
  package.json deploy/Dockerfile .gitignore .ci/run CHANGELOG.md README.md CONTRIBUTING.md test/README.md
  sandbox/README.md docs/setup.md docs/mapping.md docs/scaling.md docs/operations.md
  docs/configuration.md docs/differences.md docs/api.md examples/README.md
  sandbox/sandbox.ts sandbox/demo.ts sandbox/demo-sites.ts sandbox/packages.ts sandbox/paths.ts sandbox/town/fill.ts
  test/cms/implementations.ts test/cms/contract.test.ts test/cms/contract-table.ts test/faults/cms-client.test.ts
  test/record/record.ts test/temporary-site.ts test/mapping/mapping-reference.test.ts
  test/mapping/mapping-file.test.ts test/cli/commands.test.ts test/live/package.ts test/model/event-state.test.ts
  test/gateway.test.ts test/calendar/changed-terms.test.ts test/interface/openapi.test.ts
`
  .trim()
  .split(/\s+/);

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
    for (const file of PLACES)
      it(`is named in ${file}`, () => {
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
