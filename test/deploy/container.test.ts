import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnNode } from '../support/process.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const FILE = join(TOP, 'deploy/container/Containerfile');

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

function readInstructions(): Instruction[] {
  const text = readFileSync(FILE, 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
      if (word === undefined || rest === undefined) throw new Error(`no instruction: ${line}`);
      return { word, rest };
    });
}

const instructions = readInstructions();
const all = (word: string): string[] => instructions.filter((each) => each.word === word).map(({ rest }) => rest);
/** Everything but the last word is a source. */
const sourcesOf = (rest: string): string[] =>
  rest
    .split(/\s+/)
    .slice(0, -1)
    .filter((word) => !word.startsWith('--'));
const manifest = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

describe('the container file', () => {
  it('knows only instructions that there are', () => {
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];
    expect(instructions.map(({ word }) => word).filter((word) => !known.includes(word))).toStrictEqual([]);
    expect(instructions[0]?.word).toBe('FROM');
  });

  it('copies only what is there and is not held back from the build', () => {
    const ignored = readFileSync(`${FILE}.dockerignore`, 'utf8').split('\n');
    const sources = all('COPY')
      .filter((rest) => !rest.includes('--from='))
      .flatMap(sourcesOf);
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) {
      expect([source, existsSync(join(TOP, source))]).toStrictEqual([source, true]);
      expect(ignored).toContain(`!${source}`);
    }
  });

  it('takes from the build only what the build makes or was given', () => {
    const made = all('COPY')
      .filter((rest) => rest.includes('--from=build'))
      .flatMap(sourcesOf);
    expect(made).toStrictEqual(['/build/package.json', '/build/node_modules', '/build/dist']);
    expect(all('FROM')[0]).toMatch(/ AS build$/);
  });

  it('runs only scripts of the package', () => {
    const scripts = all('RUN').flatMap((line) => [...line.matchAll(/npm run (\S+)/g)].map((match) => match[1]!));
    expect(scripts).toStrictEqual(['build']);
    for (const script of scripts) expect(Object.keys(manifest.scripts)).toContain(script);
  });

  it('starts the program of the package, as somebody without rights, and is stopped by a drain', () => {
    expect(JSON.parse(all('ENTRYPOINT')[0]!)).toStrictEqual(['node', '/app/dist/cli/main.js']);
    expect(existsSync(join(TOP, 'dist/cli/main.js'))).toBe(true);
    expect(all('USER')).toStrictEqual(['10001:10001']);
    expect(all('STOPSIGNAL')).toStrictEqual(['SIGTERM']);
    const words = instructions.map(({ word }) => word);
    expect(words.lastIndexOf('USER')).toBeGreaterThan(words.lastIndexOf('COPY'));
  });

  it('its health check is 0 while the process says that it lives, and 1 when it does not or nobody answers', async () => {
    const [, , script] = JSON.parse(`["node",${/CMD \[(.*)\]/.exec(all('HEALTHCHECK')[0]!)![1]!}]`) as string[];
    expect(script).toBe('/app/check-health.mjs');
    expect(all('COPY').some((rest) => rest.startsWith('deploy/container/check-health.mjs '))).toBe(true);
    let status = 200;
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const env = { SALLYPORT_WORKER_HEALTH_PORT: String((server.address() as AddressInfo).port) };
    const check = async (): Promise<number | null> =>
      (await (await spawnNode(join(TOP, 'deploy/container/check-health.mjs'), [], { env })).exited).code;
    expect(await check()).toBe(0);
    status = 503;
    expect(await check()).toBe(1);
    await new Promise((resolve) => server.close(resolve));
    expect(await check()).toBe(1);
    expect(asked).toStrictEqual(['/healthz', '/healthz']);
  });
});
