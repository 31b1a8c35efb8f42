// The help of the commands: every option, and the settings as the schema describes them.

import { expect } from 'chai';
import { CHECK_OPTIONS, commands, usage } from '../../src/cli/commands.ts';
import { INIT_OPTIONS } from '../../src/cli/init/options.ts';
import { SETTINGS } from '../../src/config-environment.ts';

describe('--help', () => {
  it('names every command', () => {
    for (const name of Object.keys(commands)) expect(usage()).to.match(new RegExp(`^  ${name} `, 'm'));
  });

  it('of init and check names every option', () => {
    for (const option of Object.keys(INIT_OPTIONS)) expect(commands.init!.help).to.include(`--${option}`);
    for (const option of Object.keys(CHECK_OPTIONS)) expect(commands.check!.help).to.include(`--${option}`);
  });

  it('of serve describes settings as the schema does', () => {
    const help = commands.serve!.help.replace(/\s+/g, ' ');
    const described = SETTINGS.filter(({ variable }) => commands.serve!.help.includes(`\n  ${variable} `));
    expect(described.map(({ key }) => key)).to.include.members(['upstream.url', 'dataDir', 'log.level']);
    for (const { variable, description } of described)
      expect(help).to.include(` ${variable} ${description.replace(/\s+/g, ' ')} `);
  });

  it('of serve names only settings that exist', () => {
    const variables = SETTINGS.flatMap(({ variable, fileVariable }) => [variable, fileVariable]);
    const named = commands.serve!.help.match(/\bCALENDAR_[A-Z_]+/g)!;
    expect(named).to.have.length.above(15);
    expect(named.filter((name) => name !== 'CALENDAR_CONFIG' && !variables.includes(name))).to.deep.equal([]);
  });
});
