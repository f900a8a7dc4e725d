import { expect, it } from 'vitest';
import { DIAGNOSTIC_EVENTS, EVENT_KINDS, fieldsOf, SHARED_FIELDS } from './event-table.ts';

it('every event is named noun.verb and says what it is', () => {
  for (const kind of EVENT_KINDS) {
    expect(kind).toMatch(/^(call|tool|loop|approval|hook|events)\.[a-z]+$/);
    expect(DIAGNOSTIC_EVENTS[kind].says).toMatch(/[.]$/);
  }
});

it('no event has a field for free text, nor for a person', () => {
  const free = [
    'message',
    'reason',
    'text',
    'title',
    'description',
    'arguments',
    'params',
    'value',
    'result',
    'subject',
    'token',
    'key',
    'cause',
    'stack',
  ];
  for (const kind of EVENT_KINDS) expect(fieldsOf(kind).filter((field) => free.includes(field))).toStrictEqual([]);
});

it('an event has its own fields beside the shared ones, and none twice', () => {
  for (const kind of EVENT_KINDS) {
    const fields = fieldsOf(kind);
    expect(new Set(fields).size).toBe(fields.length);
    expect(fields).toEqual(expect.arrayContaining(Object.keys(SHARED_FIELDS)));
  }
});
