import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/process.ts';
import { makeAuditorKeys, parseAuditorKey, readSealer } from './auditor-keys.ts';

describe("the auditor's keys", () => {
  let folder: TemporaryFolder;
  beforeAll(() => void (folder = temporaryFolder('sallyport-auditor')));
  afterAll(() => folder.remove());

  const write = (name: string, text: string | Buffer): string => {
    const file = join(folder.path, name);
    writeFileSync(file, text);
    return file;
  };
  const problemOf = (file: string): string => {
    try {
      readSealer(file);
      return 'none';
    } catch (error) {
      expect(error).toMatchObject({ code: 'AUDITOR_KEY_INVALID' });
      return (error as Error).message;
    }
  };

  it('are made once: the private half for its owner only, and nothing is written over', () => {
    const out = join(folder.path, 'pair');
    const made = makeAuditorKeys(out);
    expect(statSync(made.privateFile).mode & 0o777).toBe(0o600);
    const before = readFileSync(made.privateFile, 'utf8');
    expect(() => makeAuditorKeys(out)).toThrow(/it is there already/);
    expect(readFileSync(made.privateFile, 'utf8')).toBe(before);
    expect(readdirSync(out)).toHaveLength(2);
    expect(problemOf(made.publicFile)).toBe('none');
    expect(parseAuditorKey(made.privateFile, before).asymmetricKeyType).toBe('x25519');
  });

  it('are refused by a worker when they are private, of another kind, unreadable or of no use', () => {
    const { privateKey } = generateKeyPairSync('x25519');
    const secret = privateKey.export({ format: 'pem', type: 'pkcs8' });
    const refused = problemOf(write('private.pem', secret));
    expect(refused).toContain('it holds a private key, which belongs to the auditor alone');
    expect(refused).not.toContain(String(secret).split('\n')[1]!);
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
    expect(problemOf(write('other.pem', other))).toContain('it is no X25519 key');
    expect(problemOf(write('text.pem', 'no key'))).toContain('it is no X25519 key');
    expect(problemOf(write('large.pem', 'x'.repeat(20_000)))).toContain('too large');
    expect(problemOf(join(folder.path, 'absent.pem'))).toContain('it cannot be read (ENOENT)');
    const zero = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32)]).toString('base64');
    const low = `-----BEGIN PUBLIC KEY-----\n${zero}\n-----END PUBLIC KEY-----\n`;
    expect(problemOf(write('low.pem', low))).toContain('nothing can be sealed to it');
  });

  it('open nothing when they are public', () => {
    const pem = generateKeyPairSync('x25519').publicKey.export({ format: 'pem', type: 'spki' });
    expect(() => parseAuditorKey('key.pem', String(pem))).toThrow(/it holds no private key/);
  });
});
