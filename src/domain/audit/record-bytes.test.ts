import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_LANE } from './audit-record.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { FACT_NAMES, FACTS } from './audit-detail.ts';
import { encode } from '../../base/message-pack.ts';
import { chainEntry, firstLink, nextLink, parseRecord, payloadDigest } from './record-bytes.ts';

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

const ADMINISTRATIVE: readonly string[] = [
  'via',
  'bearer',
  'changed',
  'policyDigest',
  'previousDigest',
  'token',
  'tokenName',
  'scopes',
  'expiresAt',
  'delegatedBy',
  'sessions',
];

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

  it('holds a digest of its payload that cannot be guessed without the salt', () => {
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
    const factsOf = (names: readonly string[]) =>
      Object.fromEntries(
        (names as typeof FACT_NAMES).map((name) => [
          name,
          { number: 3, texts: ['x'], true: true, text: name }[FACTS[name]],
        ]),
      );
    const facts = factsOf(FACT_NAMES.filter((name) => !ADMINISTRATIVE.includes(name)));
    const identity = JSON.stringify({
      tenant: 't',
      subject: 's',
      agent: 'a',
      channel: 'c',
      space: 'p',
      platform: 'q',
      delegators: ['d'],
      unattended: true,
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
    const { callId: _, tool: __, bodyDigest: ___, ...about } = ENTRY;
    const administered = factsOf([...ADMINISTRATIVE, 'by', 'policyVersion']);
    const change = chainEntry(
      { ...about, event: 'policy.changed', identity, detail: encode({ ...facts, ...administered }) },
      'store-1',
      firstLink('store-1', DEPLOYMENT_LANE),
    ).text;
    expect(change).toBe(canonicalJson(JSON.parse(change)));
    expect(JSON.parse(change)).toMatchObject({ ...administered, ...(JSON.parse(identity) as object) });
    expect(JSON.parse(change)).not.toHaveProperty('callId');
  });

  it('of a call has the same text as before administrative records were added', () => {
    const text = '{"agent":"a","at":1,"bodyDigest":"d","by":"operator x","callId":"c","code":"RULE_DENIED",';
    const detail = encode({ by: 'operator x', code: 'RULE_DENIED', via: 'cli', token: 't', changed: ['x'] });
    const identity = JSON.stringify({ tenant: 't', subject: 's', agent: 'a' });
    const entry = { ...ENTRY, lane: 0, sequence: 1, at: 1, callId: 'c', bodyDigest: 'd', identity, detail };
    const chained = chainEntry(entry as typeof ENTRY, 'store-1', firstLink('store-1', 0));
    expect(chained.text.startsWith(text)).toBe(true);
    for (const name of ['via', 'token', 'changed']) expect(JSON.parse(chained.text)).not.toHaveProperty(name);
  });
});
