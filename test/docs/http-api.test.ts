import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';
import { codeBlocks, readPages, TOP } from './pages.ts';

const page = readPages().find(({ path }) => path === 'docs/http-api.md')!;
const blocks = codeBlocks(page).filter(({ language }) => language === 'sh');
const MAIN = join(TOP, 'dist/cli/main.js');
/** Unsets the settings of this machine, so that they cannot change the results of the tests. */
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SALLYPORT_') || name.startsWith('npm_'))
    .map((name) => [name, undefined]),
);

/** Commands that set a variable which a block of the page uses, such as the id of a call. Keyed by the name of the variable. */
const BEFORE: Record<string, string> = {
  CALL: `CALL=$(curl -sS "$URL/v1/calls" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"tool":"clock.now","arguments":{}}' | field callId)`,
  NEXT: `NEXT=$(curl -sS "$URL/v1/matrix?subject=ann&limit=1" -H "Authorization: Bearer $DESK" | field next)`,
  APPROVAL: `
    echo '{"permissions":{"*":{"allow":["*"]}},"rules":[{"id":"ask","verdict":"ask","tools":["clock.now"]}]}' > ask.json
    sallyport policy set ask.json > /dev/null
    curl -sS "$URL/v1/calls" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
      -d '{"tool":"clock.now","arguments":{},"waitMs":0}' > /dev/null
    until curl -sS "$URL/v1/approvals?state=pending" -H "Authorization: Bearer $DESK" > pending.json && grep -q '"binding"' pending.json; do :; done
    APPROVAL=$(field items.0.id < pending.json)
    BINDING=$(field items.0.binding < pending.json)`,
};

describe('docs/http-api.md', () => {
  let folder: TemporaryFolder;
  let dev: WatchedProcess;
  let url: string;
  beforeAll(async () => {
    folder = temporaryFolder('sallyport-docs');
    writeFileSync(
      join(folder.path, 'modules.json'),
      JSON.stringify({ modules: [{ file: join(TOP, 'dist/examples/modules/clock/index.js') }] }),
    );
    mkdirSync(join(folder.path, 'bin'));
    command('sallyport', `exec "${process.execPath}" "${MAIN}" "$@"`);
    const read = `let t="";process.stdin.on("data",(c)=>t+=c).on("end",()=>console.log(process.argv[1].split(".").reduce((v,k)=>v[k],JSON.parse(t))))`;
    command('field', `exec "${process.execPath}" -e '${read}' "$1"`);
    dev = await spawnNode(MAIN, ['dev', '--modules', 'modules.json', '--http-port', '0'], { cwd: folder.path, env });
    const line = await dev.waitForLine(/http:\/\/127\.0\.0\.1:\d+\//);
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)![0];
    await dev.waitForLine(/^Ctrl-C ends it/);
  });
  afterAll(async () => {
    await dev?.stop();
    folder.remove();
  });

  function command(name: string, line: string): void {
    const path = join(folder.path, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${line}\n`);
    chmodSync(path, 0o755);
  }

  it('has examples that do what the page says', async () => {
    const parts = blocks.map(({ text, place }) => {
      const before = Object.entries(BEFORE).filter(([name]) => text.includes(`$${name}`));
      // The gateway of this test has another port, and a stream of events does not end by itself.
      const lines = text.replace('http://127.0.0.1:7411', url).replaceAll('curl -sSN', 'curl -sSN --max-time 3');
      const mayEnd = text.includes('/v1/events') ? `(\n${lines}\n) || test $? -eq 28` : lines;
      return [...before.map(([, line]) => line), `echo; echo "== ${place}"`, mayEnd].join('\n');
    });
    const script = ['set -e', `PATH="$PWD/bin:$PATH"`, 'curl() { command curl --fail-with-body "$@"; }', ...parts].join(
      '\n',
    );
    writeFileSync(join(folder.path, 'page.sh'), script);
    const shell = await startProgram('bash', ['page.sh'], { cwd: folder.path, env });
    const { code } = await shell.exited;
    expect({ code, said: shell.stderr, all: shell.stdout }).toMatchObject({ code: 0 });
    const saidBy = new Map(
      shell.stdout
        .split('\n== ')
        .slice(1)
        .map((part) => {
          const [place, ...rest] = part.split('\n');
          return [place!, rest.join('\n')];
        }),
    );
    const answers = blocks.map(({ place, text }) => ({ text, said: saidBy.get(place) ?? '' }));
    const answerTo = (part: string): string =>
      answers
        .filter(({ text }) => text.includes(part))
        .map(({ said }) => said)
        .join('\n');
    expect(answerTo('Europe/Paris')).toMatch(/"state":"settled","outcome":\{"kind":"ok"/);
    expect(answerTo('/cancel')).toContain('"answer":"settled"');
    expect(answerTo('Idempotency-Key')).toContain('"kind":"ok"');
    expect(answerTo('/v1/statistics')).toContain('"totals"');
    expect(answerTo('/decide')).toContain('"state":"allowed"');
    expect(answerTo('/v1/explain')).toContain('"allowed":true');
    expect(answerTo('/v1/matrix')).toContain('"tool":"clock.now"');
    expect(answerTo('/v1/events')).toContain('event: resync');
  });
});
