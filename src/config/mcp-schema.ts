import { group, milliseconds, option, optional, text, wholeNumber } from './option.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The MCP endpoint of the gateway. */
export const mcpSchema = group({
  waitMs: option(
    milliseconds(0, HOUR),
    50 * SECOND,
    'How long a tool call waits for its outcome before the client is told that it goes on. Most clients give up after 60 seconds.',
  ),
  taskAfterMs: option(
    milliseconds(0, HOUR),
    SECOND,
    'The same for clients that know tasks: after so long they get one, and ask for its result.',
  ),
  sessionIdleMs: option(
    milliseconds(SECOND, 24 * HOUR),
    30 * MINUTE,
    'A session of the revision 2025-11-25 that nobody uses for so long ends.',
  ),
  sessionsPerBearer: option(wholeNumber(1, 10_000), 32, 'Such sessions that one token may have open.'),
  streamsPerBearer: option(wholeNumber(1, 10_000), 32, 'Streams that one token may listen on at once.'),
  owedMs: optional(
    milliseconds(MINUTE, 30 * 24 * HOUR),
    'How long a call whose client has to come back for it, or lost its connection, is kept for the same call again. At most `worker.retentionMs`.',
    { otherwise: 'an hour longer than the question about it; without a question a week and an hour' },
  ),
  plainModule: optional(
    text('a module id', NAME),
    'The one module whose tools clients see under their own names, `tool` in the place of `module__tool`.',
    { otherwise: 'none' },
  ),
});
