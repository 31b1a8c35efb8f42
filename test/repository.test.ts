// What the repository says about itself is true: owner, scripts and files that are named elsewhere.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);

describe('the repository', () => {
  it('has every package that the source imports among the dependencies that an installation gets', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const imported = sources.flatMap((name) =>
      [...read(join('src', name)).matchAll(/(?:from |import\()'([^.'][^']*)'/g)].map(([, specifier]) => specifier!),
    );
    // `@koa/router`, `ajv/dist/core.js`: the package is the scope and the name, or the name.
    const packages = imported.flatMap((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? []);
    const missing = packages.filter((name) => !name.startsWith('node:') && !(name in packageJson.dependencies));
    expect([...new Set(missing)]).to.deep.equal([]);
  });

  it('has no line of code that is longer than 120 characters', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const code = files.filter((name) => /\.(ts|mjs|js|php|css)$/.test(name));
    const long = code.flatMap((name) =>
      read(join('src', name))
        .split('\n')
        .flatMap((line, index) => (line.length > 120 ? `${name}:${index + 1}` : [])),
    );
    expect(long).to.deep.equal([]);
  });

  it('has one owner: that of repository in package.json', () => {
    const [, repository, owner] = /^git\+(https:\/\/github\.com\/([\w-]+)\/[\w-]+)\.git$/.exec(
      packageJson.repository.url,
    )!;
    expect(packageJson.bugs).to.equal(`${repository}/issues`);
    expect(packageJson.homepage).to.equal(`${repository}#readme`);
    expect(/^\* @(\S+)$/m.exec(read('.github/CODEOWNERS'))?.[1], '.github/CODEOWNERS').to.equal(owner);
  });

  it('names every place of the owner by the command in CONTRIBUTING.md', () => {
    const owner = /github\.com\/([\w-]+)\//.exec(packageJson.repository.url)![1]!;
    const [, paths] = /^grep -rnw OWNER (.*)$/m.exec(read('CONTRIBUTING.md'))!;
    const found = spawnSync('grep', ['-rlwF', owner, ...paths!.split(' ')], { cwd: ROOT, encoding: 'utf8' });
    expect(found.stderr).to.equal('');
    expect(found.stdout.trim().split('\n')).to.have.members(['package.json', '.github/CODEOWNERS']);
  });

  it('is published from the repository that package.json names only', () => {
    const release = read('.github/workflows/release.yml');
    const [, script] = /run: (test .*repository\.url.*)$/m.exec(release)!;
    expect(release.indexOf(script!)).to.be.below(release.indexOf('npm publish'));
    expect(release).to.match(/^ {2}image:\n(?: {4}.*\n)*? {4}needs: package$/m);
    const owner = /github\.com\/([\w-]+\/[\w-]+)\.git/.exec(packageJson.repository.url)![1]!;
    const statusIn = (GITHUB_REPOSITORY: string) =>
      spawnSync('sh', ['-c', script!], { cwd: ROOT, env: { ...process.env, GITHUB_REPOSITORY } }).status;
    expect(statusIn(owner)).to.equal(0);
    expect(statusIn('somebody/calendar-gateway')).to.equal(1);
  });

  it('has every script and every test script that its workflows name', () => {
    const named = [...WORKFLOWS, '.ci/run'].flatMap((file) =>
      [...read(file).matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)].map(([, script]) => script!),
    );
    expect(named).to.include('test:live');
    expect([...new Set(named)].filter((script) => !Object.hasOwn(packageJson.scripts, script))).to.deep.equal([]);
    const files = Object.values(packageJson.scripts).flatMap(
      (script) => script.match(/(?<= )[\w./-]+\.(?:ts|json)\b/g) ?? [],
    );
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([]);
  });

  it('has every file that CONTRIBUTING.md names', () => {
    const paths = [...read('CONTRIBUTING.md').matchAll(/`([\w.-]+(?:\/[\w.-]+)+\/?)(?= |`)/g)].map(([, path]) => path!);
    expect(paths).to.include('src/interface/parameters.ts');
    // What a reader fills in.
    const examples = /SLUG|PATH|ACCOUNT/;
    expect(paths.filter((path) => !examples.test(path) && !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });

  it('has a license, a security policy, a code of conduct and a changelog for the next version', () => {
    for (const file of ['LICENSE', 'SECURITY.md', 'CODE_OF_CONDUCT.md'])
      expect(existsSync(join(ROOT, file)), file).to.equal(true);
    expect(read('CHANGELOG.md')).to.match(/^## \d+\.\d+\.\d+/m);
  });

  it('runs the container as confined with Compose as in Kubernetes', () => {
    const [compose, kubernetes] = [read('deploy/compose.yaml'), read('deploy/kubernetes.yaml')];
    for (const [there, here] of [
      [/readOnlyRootFilesystem: true/, /^ {4}read_only: true$/m],
      [/allowPrivilegeEscalation: false/, /^ {4}security_opt: \["no-new-privileges:true"\]$/m],
      [/capabilities: \{ drop: \[ALL\] \}/, /^ {4}cap_drop: \[ALL\]$/m],
      [/limits: \{ memory: 512Mi \}/, /^ {4}mem_limit: 512m$/m],
      [/mountPath: \/tmp /, /^ {4}tmpfs: \/tmp$/m],
    ] as const) {
      expect(kubernetes).to.match(there);
      expect(compose).to.match(here);
    }
  });

  it('keeps data and secrets out of the image', () => {
    // At the root: older builders read no other file.
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).to.include.members(['**/node_modules', '.git', 'calendar-gateway', '**/*.env']);
  });

  it('runs a command that every POSIX env understands', () => {
    expect(read('src/main.ts').split('\n')[0]).to.equal('#!/usr/bin/env node');
    const [, entry, command] = /^ENTRYPOINT (.*)\nCMD (.*)$/m.exec(read('deploy/Dockerfile'))!;
    expect([...JSON.parse(entry!), ...JSON.parse(command!)]).to.deep.equal(['node', '/app/dist/main.js', 'serve']);
  });
});
