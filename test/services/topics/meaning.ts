import { expect, it } from 'vitest';
import type { Embedder } from '../../../src/worker/services/search/embedder.ts';
import { EMBEDDED_PER_SEARCH } from '../../../src/worker/services/search/search-documents.ts';
import { newTenant, stageServices, type Scene } from '../scene.ts';

/** One dimension per topic: texts of the same topic point the same way without sharing a word. */
const TOPICS = [/\b(cat|kitten|feline)/i, /\b(train|railway|station)/i, /\b(soup|dinner|meal)/i];

function createEmbedder(model = 'topics'): Embedder & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    model,
    asked,
    async embed(texts) {
      asked.push([...texts]);
      return texts.map((text) => [...TOPICS.map((topic) => (topic.test(text) ? 1 : 0)), 0.05]);
    },
  };
}

export function describeMeaning(scene: Scene): void {
  it('conversations find by meaning; each message is embedded once', async () => {
    const embedder = createEmbedder();
    const { conversations } = (await stageServices(scene.store, { embedder })).as({ tenant: newTenant() });
    for (const text of ['the kitten sleeps', 'the railway is late', 'soup at noon']) {
      await conversations.append({ role: 'user', text });
    }
    const [best] = await conversations.search({ text: 'any cat?', by: 'meaning' });
    expect(best).toMatchObject({ text: 'the kitten sleeps' });
    expect(best!.score).toBeGreaterThan(0.9);
    await conversations.search({ text: 'a station', by: 'meaning' });
    expect(embedder.asked.map((texts) => texts.length)).toEqual([4, 1]);
  });

  it('both finds by words and by meaning', async () => {
    const { conversations } = (await stageServices(scene.store, { embedder: createEmbedder() })).as({
      tenant: newTenant(),
    });
    for (const text of ['feline friends', 'about cat food', 'trains'])
      await conversations.append({ role: 'user', text });
    const found = await conversations.search({ text: 'cat', by: 'both', limit: 2 });
    expect(found.map(({ text }) => text).sort()).toEqual(['about cat food', 'feline friends']);
  });

  it('an entity is embedded again when it changed, and everything when the model changed', async () => {
    const tenant = newTenant();
    const embedder = createEmbedder();
    const { knowledge } = (await stageServices(scene.store, { embedder })).as({ tenant });
    await knowledge.put({ name: 'Tom', text: 'a cat' });
    await knowledge.put({ name: 'Thomas', text: 'a train' });
    const best = async () => (await knowledge.search({ text: 'station', by: 'meaning' }))[0]?.name;
    expect(await best()).toBe('Thomas');
    await knowledge.put({ name: 'Thomas', text: 'a meal' });
    await knowledge.put({ name: 'Tom', text: 'works at the railway' });
    expect(await best()).toBe('Tom');
    expect(embedder.asked.map((texts) => texts.length)).toEqual([3, 3]);
    const other = createEmbedder('another');
    const later = (await stageServices(scene.store, { embedder: other })).as({ tenant });
    await later.knowledge.search({ text: 'station', by: 'meaning' });
    expect(other.asked.map((texts) => texts.length)).toEqual([3]);
  });

  it('one search embeds a bounded number, the newest first; the next ones the rest', async () => {
    const embedder = createEmbedder();
    const { access } = await stageServices(scene.store, { embedder });
    const tenant = newTenant();
    const count = EMBEDDED_PER_SEARCH + 10;
    const { call } = access({ tenant });
    for (let index = 0; index < count; index += 1) {
      await call({ service: 'conversations', method: 'append', args: [{ role: 'user', text: `soup ${index}` }] });
    }
    const search = () => call({ service: 'conversations', method: 'search', args: [{ text: 'meal', by: 'meaning' }] });
    await search();
    await search();
    expect(embedder.asked.map((texts) => texts.length - 1)).toEqual([EMBEDDED_PER_SEARCH, 10]);
    expect(embedder.asked[0]![1]).toBe(`soup ${count - 1}`);
  });
}
