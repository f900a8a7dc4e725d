import { describe, expect, it } from 'vitest';
import { findPackage, isExactVersion, pinArguments } from './find-package.ts';

const find = (line: string): string | undefined => {
  const [command = '', ...args] = line.split(' ');
  const found = findPackage(command, args);
  return found === undefined ? undefined : `${found.launcher} ${found.name} ${found.loose ?? 'exact'} ${found.at}`;
};

describe('findPackage', () => {
  it.each([
    ['npx -y @scope/name', 'npx @scope/name  1'],
    ['npx -y @scope/name@1.2.3 --flag', 'npx @scope/name exact 1'],
    ['npx --yes name@latest', 'npx name latest 1'],
    ['npx name@^1', 'npx name ^1 0'],
    ['/usr/bin/npx --package=name bin', 'npx name  0'],
    ['npx --registry https://x.example -p name bin', 'npx name  3'],
    ['C:\\nodejs\\npx.cmd -y name', 'npx name  1'],
    ['cmd /c npx -y name', 'npx name  3'],
    ['bunx name', 'other name  0'],
    ['pnpm dlx name', 'other name  1'],
    ['uvx name', 'uvx name  0'],
    ['uvx name==1.2', 'uvx name exact 0'],
    ['uvx name@1.2.3', 'uvx name exact 0'],
    ['uvx name>=1', 'uvx name >=1 0'],
    ['uvx --from name[cli]@latest run', 'uvx name @latest 1'],
    ['uv tool run name', 'uvx name  2'],
    ['docker run -i --rm -e TOKEN example/image', 'docker example/image  5'],
    ['docker run -i --rm -e TOKEN=x host:5000/image:latest', 'docker host:5000/image latest 5'],
    ['docker run --rm image:1.2', 'docker image exact 2'],
    ['podman run image@sha256:abc', 'docker image exact 1'],
  ])('%s: %s', (line, found) => {
    expect(find(line)).toBe(found);
  });

  it.each([
    'node server.js',
    'npx -y ./server',
    'npx github:a/b',
    'npx',
    'docker ps',
    'npx -y',
    'uvx --from git+https://x',
  ])('%s: no package with a version', (line) => {
    expect(find(line)).toBeUndefined();
  });

  it('pins the package in its place', () => {
    const args = ['/c', 'npx', '-y', 'name@latest', '--x'];
    expect(pinArguments(args, findPackage('cmd', args)!, '1.2.3')).toEqual(['/c', 'npx', '-y', 'name@1.2.3', '--x']);
    const flagged = ['--package=@a/b', 'bin'];
    expect(pinArguments(flagged, findPackage('npx', flagged)!, '1.0.0')).toEqual(['--package=@a/b@1.0.0', 'bin']);
  });

  it('takes only exact versions for one', () => {
    expect(['1.2.3', '1.2.3-rc.1', 'latest', '^1.2.3', '1.2.3; rm'].map(isExactVersion)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
