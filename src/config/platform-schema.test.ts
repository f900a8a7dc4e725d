import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nearNames } from '../base/near-names.ts';
import { loadConfig } from './load-config.ts';

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'sallyport-platforms-config-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const load = (platforms: string, env: Record<string, string> = {}) => {
  writeFileSync(join(cwd, 'sallyport.yaml'), `platforms:\n${platforms}`);
  return loadConfig({ env, cwd, near: nearNames }).config;
};

describe('platforms in a configuration', () => {
  it('have an adapter, and defaults for the rest; a secret file is relative to the file that names it', () => {
    const { platforms } = load(`  console: { adapter: console }
  chat: { adapter: webhook, url: https://example.com/in, secretFile: ./secret, channels: [team-*], attempts: 3 }
`);
    const common = { channels: 'session', deliverWithinMs: 86_400_000 };
    expect(platforms).toStrictEqual({
      console: { adapter: 'console', ...common },
      chat: {
        ...common,
        adapter: 'webhook',
        url: 'https://example.com/in',
        secretFile: join(cwd, 'secret'),
        channels: ['team-*'],
        attempts: 3,
      },
    });
  });

  it('are none unless they are given', () => {
    expect(loadConfig({ env: {}, cwd, near: nearNames }).config.platforms).toBeUndefined();
  });

  it.each([
    ['  chat: { adapter: pigeon }', 'expected one of console, webhook'],
    ['  chat: { adapter: webhook, secretEnv: S }', 'expected url'],
    ['  chat: { adapter: webhook, url: http://example.com/, secretEnv: S }', 'must be https://'],
    ['  chat: { adapter: webhook, url: https://a.example/ }', 'expected secretEnv or secretFile'],
    ['  chat: { adapter: webhook, url: https://a.example/, secretEnv: S, secretFile: f }', 'secretEnv or secretFile'],
    ['  chat: { adapter: console, url: https://a.example/ }', 'url cannot stand beside adapter: console'],
    ['  chat: { adapter: console, secret: in-clear }', 'unknown key "secret"'],
    ['  chat: { adapter: console, channels: nobody }', 'expected session, any, or a list of channels'],
    ['  "a b": { adapter: console }', 'a platform is named with'],
    ['  chat: { adapter: console, deliverWithinMs: 1 }', 'platforms.chat.deliverWithinMs'],
  ])('%s is refused: %s', (text, problem) => {
    expect(() => load(`${text}\n`)).toThrow(problem);
  });
});
