import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { FACT_NAMES, FACTS } from './audit-detail.ts';
import { encode } from './message-pack.ts';
import { chainEntry, firstLink, nextLink, parseRecord, payloadDigest } from './audit-record.ts';

const ENTRY = {
  lane: 3,
  sequence: 7,
  at: 1_700_000_000_000,
  event: 'call.settled',
  callId: '3.abcdefghijkl.abcdefghijklmnopqrstuv',
  tool: 'shell.run',
  session: 's',
  run: 'r',
  bodyDigest: 'b',
  identity: '{"agent":"main","channel":"c\\u2028\\"","delegators":["boss"],"subject":"ann 😀","tenant":"acme"}',
  detail: Buffer.concat([
    encode({ outcome: 'failed', executed: 'yes', durationMs: 5, changedBy: ['guard'], code: null, secret: 'hush' }),
    encode({ arguments: '{"a":"x"}' }),
  ]),
} as unknown as Parameters<typeof chainEntry>[0];

describe('an audit record', () => {
  const { text, chain, payload } = chainEntry(ENTRY, 'store-1', firstLink('store-1', 3));

  it('has one canonical form, with what was decided and without the payload', () => {
    expect(text).toBe(canonicalJson(JSON.parse(text)));
    expect(parseRecord(text)).toMatchObject({
      version: 1,
      store: 'store-1',
      lane: 3,
      sequence: 7,
      subject: 'ann 😀',
      delegators: ['boss'],
      outcome: 'failed',
      changedBy: ['guard'],
      durationMs: 5,
    });
    expect(text).not.toMatch(/hush|\\"a\\"|code/);
  });

  it('holds a digest of its payload that nobody can guess without the salt', () => {
    expect(JSON.parse(text)).toMatchObject({ payloadDigest: payloadDigest(payload!.salt, ENTRY.detail) });
    const again = chainEntry(ENTRY, 'store-1', firstLink('store-1', 3));
    expect(parseRecord(again.text)!.payloadDigest).not.toBe(parseRecord(text)!.payloadDigest);
  });

  it('is chained to the one before, to its lane and to its store', () => {
    expect(Buffer.from(chain)).toEqual(Buffer.from(nextLink(firstLink('store-1', 3), text)));
    const links = [firstLink('store-1', 3), firstLink('store-1', 4), firstLink('store-2', 3), chain];
    expect(new Set(links.map((link) => Buffer.from(nextLink(link, text)).toString('hex'))).size).toBe(4);
  });

  it('leaves out what is not there', () => {
    const bare = chainEntry({ ...ENTRY, detail: new Uint8Array(0) }, 'store-1', firstLink('store-1', 3)).text;
    expect(Object.keys(JSON.parse(bare) as object)).toEqual(
      'agent at bodyDigest callId channel delegators event lane payloadDigest run sequence session store subject tenant tool version'.split(
        ' ',
      ),
    );
  });

  it('has one canonical form also when everything is there', () => {
    const facts = Object.fromEntries(
      FACT_NAMES.map((name) => [name, FACTS[name] === 'number' ? 3 : FACTS[name] === 'texts' ? ['x'] : name]),
    );
    const identity = JSON.stringify({
      tenant: 't',
      subject: 's',
      agent: 'a',
      channel: 'c',
      space: 'p',
      platform: 'q',
      delegators: ['d'],
    });
    const whole = chainEntry(
      { ...ENTRY, approval: 'ap', grant: 'gr', identity, detail: encode(facts) } as typeof ENTRY,
      'store-1',
      firstLink('store-1', 3),
    ).text;
    expect(whole).toBe(canonicalJson(JSON.parse(whole)));
    expect(JSON.parse(whole)).toMatchObject({
      ...facts,
      ...(JSON.parse(identity) as object),
      approval: 'ap',
      grant: 'gr',
    });
  });
});
