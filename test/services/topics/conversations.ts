import { expect, it } from 'vitest';
import type { Conversations } from '../../../src/domain/ports/tool-services.ts';
import { newTenant, stageServices, type Scene, type StagingOptions } from '../scene.ts';

export function describeConversations(scene: Scene): void {
  async function openOne(options: StagingOptions = {}) {
    const tenant = newTenant();
    const { as } = await stageServices(scene.store, options);
    return (callId?: string): Conversations => as({ tenant, channel: 'lobby' }, callId).conversations;
  }
  const say = async (conversation: Conversations, ...texts: string[]): Promise<void> => {
    for (const text of texts) await conversation.append({ role: 'user', text });
  };
  const textsOf = (messages: readonly { readonly text: string }[]): string[] => messages.map(({ text }) => text);

  it('append gives the message back, with its number, its writer and the time', async () => {
    const open = await openOne();
    const first = await open().append({ role: 'user', text: 'hello', name: 'Ann' });
    expect(first).toEqual({ id: 1, role: 'user', text: 'hello', name: 'Ann', by: 'ann', at: expect.any(String) });
    expect(Math.abs(Date.parse(first.at) - (await scene.store.now()))).toBeLessThan(60_000);
    expect(await open().window()).toEqual([first]);
  });

  it('window ends at its number, its characters, its tokens, and begins before an id', async () => {
    const conversation = (await openOne())();
    await say(conversation, 'aaaa', 'bbbb', 'cccc', 'dddd');
    expect(textsOf(await conversation.window({ last: 2 }))).toEqual(['cccc', 'dddd']);
    expect(textsOf(await conversation.window({ maxCharacters: 9 }))).toEqual(['cccc', 'dddd']);
    expect(textsOf(await conversation.window({ maxTokens: 3 }))).toEqual(['bbbb', 'cccc', 'dddd']);
    expect(textsOf(await conversation.window({ before: 3 }))).toEqual(['aaaa', 'bbbb']);
    expect(textsOf(await conversation.window({ maxCharacters: 1 }))).toEqual(['dddd']);
  });

  it('window goes on over many pages', async () => {
    const conversation = (await openOne())();
    const texts = Array.from({ length: 130 }, (_, index) => `message ${index}`);
    await say(conversation, ...texts);
    expect(textsOf(await conversation.window({ last: 125 }))).toEqual(texts.slice(5));
  });

  it('search finds by words, in any case and with any accents, rare words first', async () => {
    const conversation = (await openOne())();
    await say(conversation, 'the dentist is at nine', 'the weather is fine', 'the Café is open', 'the end of the day');
    expect(textsOf(await conversation.search({ text: 'when is the DENTIST?' }))[0]).toBe('the dentist is at nine');
    expect(textsOf(await conversation.search({ text: 'cafe' }))).toEqual(['the Café is open']);
    expect(await conversation.search({ text: 'nothing like it' })).toEqual([]);
    expect(await conversation.search({ text: '?!' })).toEqual([]);
    expect(await conversation.search({ text: '" OR tokens:*' })).toEqual([]);
  });

  it('search finds text written without spaces', async () => {
    const conversation = (await openOne())();
    await say(conversation, '明日は東京で会議があります', '今日は休みです');
    expect(textsOf(await conversation.search({ text: '東京' }))).toEqual(['明日は東京で会議があります']);
  });

  it('a call that is run again appends its messages once, and gets the first ones', async () => {
    const open = await openOne();
    const first = open('call-1');
    const told = [await first.append({ role: 'user', text: 'one' }), await first.append({ role: 'user', text: 'one' })];
    const again = open('call-1');
    expect([
      await again.append({ role: 'user', text: 'one' }),
      await again.append({ role: 'user', text: 'one' }),
    ]).toEqual(told);
    await open('call-2').append({ role: 'user', text: 'one' });
    expect(await open().window()).toHaveLength(3);
  });

  it('keeps no more messages than configured, and finds none of the others', async () => {
    const conversation = (await openOne({ config: { conversations: { maxMessages: 3 } } }))();
    await say(conversation, 'word a', 'word b', 'word c', 'word d', 'word e');
    expect(textsOf(await conversation.window())).toEqual(['word c', 'word d', 'word e']);
    expect(textsOf(await conversation.search({ text: 'word' })).sort()).toEqual(['word c', 'word d', 'word e']);
  });

  it('shows nothing older than configured', async () => {
    const open = await openOne({ config: { conversations: { maxAgeMs: 1000 } } });
    await say(open(), 'old words');
    const start = await scene.store.now();
    while ((await scene.store.now()) <= start + 1001);
    await say(open(), 'new words');
    expect(textsOf(await open().window())).toEqual(['new words']);
    expect(textsOf(await open().search({ text: 'words' }))).toEqual(['new words']);
  });

  it('refuses what is no message, and names the member but not the value', async () => {
    const conversation = (await openOne())();
    const bad = { role: 'god', text: 'x'.repeat(70_000) } as unknown as Parameters<Conversations['append']>[0];
    const problem = await conversation.append(bad).catch((error: unknown) => error as Error & { code: string });
    expect(problem).toMatchObject({ name: 'ToolFailure', code: 'SERVICE_INVALID' });
    expect((problem as Error).message).toMatch(/^conversations\.append: role: .*; text: /);
    expect((problem as Error).message).not.toContain('xxx');
    await expect(conversation.append({ role: 'user', text: '\uD800' })).rejects.toThrow(/surrogate|well-formed/);
  });

  it('search by meaning without a model is refused with what to do instead', async () => {
    const conversation = (await openOne())();
    await expect(conversation.search({ text: 'x', by: 'meaning' })).rejects.toThrow('search by words instead');
  });
}
