import { expect, it } from 'vitest';
import { describeVersions } from './describe-versions.ts';

it('describeVersions says why a module of this worker is not published, and what publishes it', () => {
  const notes = { id: 'notes', version: '1.0.0', published: '1.1.0' };
  expect(describeVersions({ older: [notes, { ...notes, pool: 'games' }], rolledBack: [] })).toEqual([
    'notes 1.0.0 is not published: live workers serve 1.1.0',
    'notes is not published in this pool: live workers serve it in pool games. Stop them first to move it here',
  ]);
});
