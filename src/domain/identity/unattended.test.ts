import { describe, expect, it } from 'vitest';
import type { Identity } from './session.ts';
import { isUnattendedRun, whyUnattended } from './unattended.ts';
import { newRunId } from './new-id.ts';

const ANN: Identity = { tenant: 'default', subject: 'ann', agent: 'main' };

describe('whyUnattended', () => {
  it('is undefined where neither the policy, the session nor the run says so', () => {
    expect(whyUnattended({}, ANN, newRunId())).toBeUndefined();
    expect(whyUnattended({ unattended: ['night'] }, ANN)).toBeUndefined();
  });

  it('names the agent that the policy lists, also one that the caller acts for', () => {
    const policy = { unattended: ['night'] };
    expect(whyUnattended(policy, { ...ANN, agent: 'night' })).toBe('agent night runs unattended');
    expect(whyUnattended(policy, { ...ANN, delegators: ['night'] })).toBe('agent night runs unattended');
  });

  it('names the session, and the run, by what the store vouches for', () => {
    expect(whyUnattended({}, { ...ANN, unattended: true })).toBe('the session is unattended');
    expect(whyUnattended({}, ANN, newRunId({ unattended: true }))).toBe('the run is unattended');
  });

  it('stays where one says attended and another does not', () => {
    expect(whyUnattended({ unattended: [] }, { ...ANN, unattended: true }, newRunId())).toBeDefined();
    expect(whyUnattended({ unattended: ['main'] }, ANN, newRunId())).toBeDefined();
  });

  it('marks the id of a run, and no id of an attended one', () => {
    expect(isUnattendedRun(newRunId({ unattended: true }))).toBe(true);
    expect(isUnattendedRun(newRunId())).toBe(false);
  });
});
