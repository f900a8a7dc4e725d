import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Inert } from '../../components/inert.tsx';
import { Failure } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { holdsScope } from '../../holds-scope.ts';
import { useResource } from '../../use-resource.ts';
import type { Paused } from './fleet-types.ts';
import { useEvery } from '../../use-every.ts';

const LOOK_EVERY_MS = 5000;

type What = 'all' | 'agent' | 'tool';
interface Switch {
  readonly what: What;
  readonly name?: string;
  readonly resume: boolean;
}

/** The kill switch. Paused calls are refused; calls that are already running continue to their end. */
export function PausePanel(): VNode {
  const { data, error, reload } = useResource(
    (signal) => api.get<{ policy: { paused: Paused } }>('/v1/policy', { signal }),
    [],
  );
  // Read again regularly, because another operator may pause or resume something.
  useEvery(LOOK_EVERY_MS, reload);
  const [asked, setAsked] = useState<Switch>();
  const mayPause = holdsScope('operator', 'admin');
  const paused = listPaused(data?.policy.paused ?? {});
  return (
    <section class={`card pause${paused.length > 0 ? ' pause-on' : ''}`} aria-labelledby="pause-title">
      <h2 id="pause-title">Pause</h2>
      {error === undefined ? null : <Failure error={error} onRetry={reload} />}
      {data !== undefined && paused.length === 0 ? <p>Nothing is paused.</p> : null}
      <ul class="paused">
        {paused.map((one) => (
          <li key={`${one.what} ${one.name}`}>
            <Badge tone="bad">paused</Badge> <Inert text={nameSwitch(one)} />
            {mayPause ? (
              <Button label={`Resume ${nameSwitch(one)}`} onClick={() => setAsked({ ...one, resume: true })}>
                Resume
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {mayPause ? <PauseForm onAsk={setAsked} isAllPaused={data?.policy.paused.all === true} /> : null}
      {asked === undefined ? null : <AskAgain asked={asked} onDone={reload} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

function PauseForm({ onAsk, isAllPaused }: { onAsk: (asked: Switch) => void; isAllPaused: boolean }): VNode {
  const [what, setWhat] = useState<What>('agent');
  const [name, setName] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    onAsk(what === 'all' ? { what, resume: false } : { what, name: name.trim(), resume: false });
  };
  return (
    <form class="pause-form" onSubmit={submit}>
      <label class="field">
        Pause
        <select value={what} onChange={({ currentTarget }) => setWhat(currentTarget.value as What)}>
          <option value="agent">an agent</option>
          <option value="tool">a tool</option>
          {isAllPaused ? null : <option value="all">all calls</option>}
        </select>
      </label>
      {what === 'all' ? null : (
        <label class="field">
          {what === 'agent' ? 'Name of the agent' : 'Tool, or module.*'}
          <input
            value={name}
            required
            maxLength={256}
            autocomplete="off"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
      )}
      <Button kind="danger" type="submit">
        Pause …
      </Button>
    </form>
  );
}

interface AskAgainProps {
  readonly asked: Switch;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function AskAgain({ asked, onDone, onClose }: AskAgainProps): VNode {
  const { what, name, resume } = asked;
  const flip = async (): Promise<void> => {
    const { warnings = [] } = await api.post<{ warnings?: readonly string[] }>('/v1/pause', {
      what,
      ...(name === undefined ? {} : { name }),
      ...(resume ? { resume } : {}),
    });
    showToast([`${nameSwitch(asked)}: ${resume ? 'resumed' : 'paused'}.`, ...warnings].join('\n'));
    onDone();
  };
  return (
    <Confirm title={resume ? 'Resume?' : 'Pause?'} act={resume ? 'Resume' : 'Pause'} onConfirm={flip} onClose={onClose}>
      <p>
        <Inert text={nameSwitch(asked)} />
        {resume
          ? ': calls are let through again, as the policy says.'
          : ': calls are refused from now on, waiting ones too, until somebody resumes them. What runs now is not stopped.'}
      </p>
    </Confirm>
  );
}

function listPaused({ all, agents = [], tools = [] }: Paused): Omit<Switch, 'resume'>[] {
  return [
    ...(all === true ? [{ what: 'all' } as const] : []),
    ...agents.map((name) => ({ what: 'agent', name }) as const),
    ...tools.map((name) => ({ what: 'tool', name }) as const),
  ];
}

function nameSwitch({ what, name = '' }: Pick<Switch, 'what' | 'name'>): string {
  return what === 'all' ? 'All calls' : `${what === 'agent' ? 'Agent' : 'Tool'} ${name}`;
}
