import { z } from 'zod';
import type {
  Conversations,
  FoundMessage,
  Message,
  NewMessage,
  WindowQuery,
} from '../../../domain/ports/tool-services.ts';
import { defineService, type ServiceCall, type ServiceHandle } from '../define-service.ts';
import { longText, parseArgument, parseServiceConfig, shortText } from '../parse-arguments.ts';
import { scopeOf } from '../scope-of.ts';
import type { Embedder } from '../search/embedder.ts';
import { SEARCH_MODES, searchDocuments } from '../search/search-documents.ts';
import { termsOf } from '../search/terms.ts';
import { storageHealth } from '../storage/storage-health.ts';
import type { ScopedStore, StoredDocument } from '../storage/scoped-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MESSAGES = 'messages';
const MAX_CHARACTERS = 64 * 1024;
const CHARACTERS_PER_TOKEN = 4;
const PAGE = 100;

const config = z.strictObject({
  /** Max messages of one conversation; the oldest are deleted first. */
  maxMessages: z.int().min(1).max(1_000_000).default(10_000),
  maxAgeMs: z
    .int()
    .min(1000)
    .max(3650 * DAY_MS)
    .default(90 * DAY_MS),
});
const newMessage = z.strictObject({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  text: longText(MAX_CHARACTERS),
  name: shortText(200).optional(),
  key: shortText(200).optional(),
});
const count = (most: number) => z.int().min(1).max(most);
const windowQuery = z.strictObject({
  last: count(500).default(50),
  maxCharacters: count(10_000_000).optional(),
  maxTokens: count(2_500_000).optional(),
  before: z.int().min(0).optional(),
});
const searchQuery = z.strictObject({
  text: longText(4096),
  limit: count(50).default(10),
  by: z.enum(SEARCH_MODES).default('words'),
});

type Body = Omit<Message, 'id' | 'at'>;

/** Stores what was said in a channel. Tools append messages, read the latest ones, and search. */
export const conversations = defineService({
  methods: ['append', 'window', 'search'],
  uses: ['models'],
  async start({ name, config: given, services, storage }) {
    const { maxMessages, maxAgeMs } = parseServiceConfig(config, given, name);
    const store = await storage();
    const settings = { store, embedder: services['models'] as Embedder | undefined, maxMessages, maxAgeMs };
    return {
      open: (call) => openConversation(call, settings) as unknown as ServiceHandle,
      health: () => storageHealth(store),
    };
  },
});

interface Settings {
  readonly store: ScopedStore;
  readonly embedder: Embedder | undefined;
  readonly maxMessages: number;
  readonly maxAgeMs: number;
}

function openConversation(call: ServiceCall, { store, embedder, maxMessages, maxAgeMs }: Settings): Conversations {
  const scope = scopeOf('channel', call.identity);
  const by = call.identity.subject;

  async function append(given: NewMessage): Promise<Message> {
    const { key = call.nextKey(), ...message } = parseArgument(newMessage, given, 'conversations.append');
    const body: Body = { role: message.role, text: message.text, by, ...(message.name && { name: message.name }) };
    const answer = await store.commit(scope, {
      puts: [
        {
          collection: MESSAGES,
          // The subject is part of the key, so keys of different subjects do not collide.
          key: `${by}\n${key}`,
          body: JSON.stringify(body),
          terms: termsOf(message.text),
          ttlMs: maxAgeMs,
        },
      ],
      prune: { collection: MESSAGES, most: maxMessages },
    });
    if (answer.kind === 'committed') return toMessage({ ...answer.documents[0]!, body: JSON.stringify(body) });
    const [before] = answer.kind === 'exists' ? await store.read(scope, MESSAGES, [answer.id]) : [];
    // The message existed at the commit, but was deleted since, because of its age or the limit. Append it again.
    return before === undefined ? append(given) : toMessage(before);
  }

  return {
    append,
    async window(given: WindowQuery = {}) {
      const query = parseArgument(windowQuery, given, 'conversations.window');
      const budget = Math.min(
        query.maxCharacters ?? Infinity,
        query.maxTokens === undefined ? Infinity : query.maxTokens * CHARACTERS_PER_TOKEN,
      );
      const messages: Message[] = [];
      let characters = 0;
      for (let before = query.before; messages.length < query.last;) {
        const limit = Math.min(PAGE, query.last - messages.length);
        const page = await store.list(scope, MESSAGES, { limit, ...(before === undefined ? {} : { before }) });
        for (const message of page.map(toMessage)) {
          characters += message.text.length;
          if (characters > budget && messages.length > 0) return messages.reverse();
          messages.push(message);
        }
        if (page.length < limit) break;
        before = page.at(-1)!.order;
      }
      return messages.reverse();
    },
    async search(given) {
      const { text, limit, by: mode } = parseArgument(searchQuery, given, 'conversations.search');
      const { signal } = call;
      const textOf = (body: string): string => (JSON.parse(body) as Body).text;
      const request = { scope, collection: MESSAGES, text, by: mode, limit, signal, textOf };
      const ranked = await searchDocuments(store, embedder, request);
      const documents = await store.read(
        scope,
        MESSAGES,
        ranked.map(({ id }) => id),
      );
      return documents.flatMap((document, index): FoundMessage[] =>
        document === undefined ? [] : [{ ...toMessage(document), score: ranked[index]!.score }],
      );
    },
  };
}

function toMessage({ order, at, body }: Pick<StoredDocument, 'order' | 'at' | 'body'>): Message {
  return { id: order, ...(JSON.parse(body) as Body), at: new Date(at).toISOString() };
}
