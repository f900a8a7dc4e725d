import { defineModule, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';
import { withNotes } from './note-store.ts';

const id = z.int().positive().describe('The id of the note, as add, list and search give it');
const title = z.string().trim().min(1).max(200);
const text = z.string().max(100_000);
const tags = z.array(z.string().trim().min(1).max(50)).max(20);
const limit = z.int().min(1).max(100).default(20);

/** Max length of a note that is sent as a message. Longer notes are sent as files. */
const MAX_MESSAGE_LENGTH = 4000;

const note = z.object({ id: z.int(), title, text, tags, createdAt: z.string(), updatedAt: z.string() });
const found = z.object({
  notes: z.array(z.object({ id: z.int(), title, tags, updatedAt: z.string(), preview: z.string() })),
  more: z.boolean().describe('There are more than were asked for'),
});

export default defineModule({
  id: 'notes',
  version: '1.0.0',
  description: 'Notes of the user, kept between conversations. Nobody sees the notes of somebody else.',
  setup: z.object({
    file: z.string().min(1).default('.sallyport/data/notes.sqlite').describe('SQLite file, made when it is missing'),
  }),
  tools: (tool) => ({
    search: tool({
      description:
        'Finds notes that contain all the given words, best match first. Words match from their beginning: "plan" finds "planning". Gives previews; use read for the whole note.',
      effect: 'read',
      normalises: true,
      input: z.object({ query: z.string().trim().min(1).max(500), limit }),
      output: found,
      run: (args, { setup, identity }) =>
        withNotes(setup.file, identity, (notes) => notes.search(args.query, args.limit)),
    }),

    list: tool({
      description: 'Lists notes, newest first. For older ones, pass the smallest id you got as beforeId.',
      effect: 'read',
      input: z.object({ beforeId: id.optional(), limit }),
      output: found,
      run: (args, { setup, identity }) =>
        withNotes(setup.file, identity, (notes) => notes.list(args.limit, args.beforeId)),
    }),

    read: tool({
      description: 'Gives the whole text of one note.',
      effect: 'read',
      input: z.object({ id }),
      output: note,
      run: (args, { setup, identity }) =>
        withNotes(setup.file, identity, (notes) => notes.read(args.id)) ?? notFound(args.id),
    }),

    add: tool({
      description: 'Saves a new note and gives its id.',
      // Idempotent, because the note stores the id of the call that created it: a second run of the same call finds that note.
      effect: 'idempotent',
      serial: true,
      normalises: true,
      input: z.object({ title, text, tags: tags.default([]) }),
      output: note,
      run: (args, { setup, identity, callId }) => withNotes(setup.file, identity, (notes) => notes.add(args, callId)),
    }),

    edit: tool({
      description: 'Changes a note. What is left out stays as it is; text and tags are replaced as a whole.',
      effect: 'idempotent',
      serial: true,
      normalises: true,
      input: z.object({ id, title: title.optional(), text: text.optional(), tags: tags.optional() }),
      output: note,
      run: ({ id: noteId, ...changes }, { setup, identity }) =>
        withNotes(setup.file, identity, (notes) => notes.edit(noteId, changes)) ?? notFound(noteId),
    }),

    share: tool({
      description: 'Sends a note to the channel of this conversation, where everybody in it can read it.',
      // Idempotent: if the call is run again, the same message has the same key and is sent only once.
      effect: 'idempotent',
      input: z.object({ id }),
      output: z.object({ id: z.int(), state: z.enum(['delivered', 'queued']), messageId: z.string().optional() }),
      async run(args, { setup, identity, platform }) {
        const { title, text } = withNotes(setup.file, identity, (notes) => notes.read(args.id)) ?? notFound(args.id);
        const { state, messageId } =
          text.length <= MAX_MESSAGE_LENGTH
            ? await platform.send(`${title}\n\n${text}`)
            : await platform.sendFile({ name: `${title}.txt`, mediaType: 'text/plain', bytes: Buffer.from(text) });
        return { id: args.id, state, ...(messageId === undefined ? {} : { messageId }) };
      },
    }),

    delete: tool({
      description: 'Deletes a note for good. Ask the user first unless they told you to.',
      effect: 'idempotent',
      serial: true,
      input: z.object({ id }),
      // Not a failure if the note is already gone: a second run of the same call must not turn a success into a failure.
      output: z.object({ id: z.int(), existed: z.boolean() }),
      run: (args, { setup, identity }) =>
        withNotes(setup.file, identity, (notes) => ({ id: args.id, existed: notes.delete(args.id) })),
    }),
  }),
});

function notFound(noteId: number): never {
  throw new ToolFailure(`There is no note ${noteId}. Use list or search to find its id.`, { code: 'NOTE_NOT_FOUND' });
}
