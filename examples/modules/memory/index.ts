import { defineModule } from 'sallyport/tool';
import { z } from 'zod';

const name = z.string().trim().min(1).max(200);
const type = z.string().trim().min(1).max(64).default('thing').describe('What kind of thing it is: person, place, …');
const limit = z.int().min(1).max(50).default(10);
const by = z
  .enum(['words', 'meaning', 'both'])
  .default('words')
  .describe('"meaning" finds other words for the same thing, where a model is set up');

const fact = z.object({ name, type, text: z.string() });
const message = z.object({ id: z.int(), role: z.string(), text: z.string(), by: z.string(), at: z.string() });

export default defineModule({
  id: 'memory',
  version: '1.0.0',
  description: 'What was said in this channel, and what is known about things.',
  // The module can reach no other services of the worker, and of these two only the data that belongs to the session.
  needs: ['conversations', 'knowledge'],
  tools: (tool) => ({
    remember: tool({
      description:
        'Remembers something about a person, place or thing, for later conversations of this user. What is already known of it stays.',
      // The service stores the id of the call: a second run of the same call changes nothing.
      effect: 'idempotent',
      normalises: true,
      input: z.object({
        name,
        type,
        text: z.string().max(10_000).describe('One or two sentences that will make sense later'),
        relatedTo: z.object({ name, type, relation: z.string().trim().min(1).max(64) }).optional(),
      }),
      output: fact,
      run: async ({ relatedTo, ...wish }, { services: { knowledge } }) => {
        const known = await knowledge.put(wish);
        if (relatedTo !== undefined) {
          const { relation, ...other } = relatedTo;
          const to = (await knowledge.find(other)) ?? (await knowledge.put(other));
          await knowledge.relate({ from: known.id, relation, to: to.id });
        }
        return { name: known.name, type: known.type, text: known.text };
      },
    }),

    recall: tool({
      description: 'Gives what is known about things that match, and what they are related to.',
      effect: 'read',
      normalises: true,
      input: z.object({ query: z.string().trim().min(1).max(500), limit, by }),
      output: z.object({
        known: z.array(fact.extend({ related: z.array(z.object({ relation: z.string(), name: z.string() })) })),
      }),
      run: async ({ query, limit: most, by: how }, { services: { knowledge } }) => {
        const found = await knowledge.search({ text: query, limit: most, by: how });
        const known = found.map(async ({ id, name: called, type: kind, text }) => {
          const { entities, relations } = await knowledge.neighbourhood({ of: id, limit: 20 });
          const nameOf = new Map(entities.map((entity) => [entity.id, entity.name]));
          const related = relations.map(({ from, relation, to }) => ({
            relation,
            name: nameOf.get(from === id ? to : from) ?? '',
          }));
          return { name: called, type: kind, text, related };
        });
        return { known: await Promise.all(known) };
      },
    }),

    note: tool({
      description: "Adds a message to this channel's conversation, so that it can be found later.",
      effect: 'idempotent',
      input: z.object({ role: z.enum(['user', 'assistant']).default('user'), text: z.string().min(1).max(20_000) }),
      output: z.object({ id: z.int() }),
      run: async (args, { services: { conversations } }) => ({ id: (await conversations.append(args)).id }),
    }),

    history: tool({
      description: "The latest messages of this channel's conversation, oldest first.",
      effect: 'read',
      input: z.object({ last: z.int().min(1).max(200).default(20), beforeId: z.int().optional() }),
      output: z.object({ messages: z.array(message) }),
      run: async ({ last, beforeId }, { services: { conversations } }) => {
        const before = beforeId === undefined ? {} : { before: beforeId };
        return { messages: await conversations.window({ last, maxCharacters: 20_000, ...before }) };
      },
    }),

    search: tool({
      description: "Finds messages of this channel's conversation, the best match first.",
      effect: 'read',
      normalises: true,
      input: z.object({ query: z.string().trim().min(1).max(500), limit, by }),
      output: z.object({ messages: z.array(message.extend({ score: z.number() })) }),
      run: async ({ query, limit: most, by: how }, { services: { conversations } }) => ({
        messages: await conversations.search({ text: query, limit: most, by: how }),
      }),
    }),
  }),
});
