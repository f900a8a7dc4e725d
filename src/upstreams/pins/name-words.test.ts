import { describe, expect, it } from 'vitest';
import { findContradiction, wordsOfName } from './name-words.ts';

const readOnly = { readOnlyHint: true };

describe('the words of a name', () => {
  it.each([
    ['delete_file', ['delete', 'file']],
    ['deleteFile', ['delete', 'file']],
    ['files.delete-all', ['files', 'delete', 'all']],
    ['HTTPSend', ['httpsend']],
    ['v2_run', ['v', 'run']],
  ])('of %s', (name, words) => {
    expect(wordsOfName(name)).toStrictEqual(words);
  });
});

describe('a contradiction between annotations and name or text', () => {
  it.each(['delete_file', 'file_write', 'sendMail', 'exec', 'browser_run_code', 'create_issue', 'kill'])(
    'is found in %s, which claims to be read-only',
    (name) => {
      expect(findContradiction({ name, annotations: readOnly })).toMatchObject({ member: 'name' });
    },
  );

  it.each([
    'get_run_logs',
    'list_deleted_items',
    'search_update_history',
    'browser_snapshot',
    'read_write_lock',
    'settings',
    'browser_pdf_save',
  ])('is not found in %s', (name) => {
    expect(findContradiction({ name, annotations: readOnly })).toBeUndefined();
  });

  it('is found in the beginning of the description', () => {
    const found = findContradiction({ name: 'x', description: 'Sends a mail.', annotations: readOnly });
    expect(found).toStrictEqual({ word: 'send', member: 'description' });
    expect(
      findContradiction({ name: 'x', description: 'Lists what was sent.', annotations: readOnly }),
    ).toBeUndefined();
  });

  it('without destructiveHint concerns only what destroys', () => {
    const annotations = { destructiveHint: false };
    expect(findContradiction({ name: 'drop_table', annotations })).toMatchObject({ word: 'drop' });
    expect(findContradiction({ name: 'create_table', annotations })).toBeUndefined();
  });

  it.each([{}, { readOnlyHint: false }, { readOnlyHint: 'true' }, undefined, []])(
    'needs a claim: %j is none',
    (annotations) => {
      expect(
        findContradiction({ name: 'delete', ...(annotations === undefined ? {} : { annotations }) }),
      ).toBeUndefined();
    },
  );
});
