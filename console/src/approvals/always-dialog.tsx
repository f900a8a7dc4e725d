import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { APPROVAL_LIMITS } from '../../../src/domain/policy/approval.ts';
import type { ApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Inert } from '../components/inert.tsx';
import { showDuration } from '../show-time.ts';
import { ConditionFields } from './condition-fields.tsx';
import { placeProblems, pointersOf, toCondition, type ConditionRow } from './conditions.ts';
import type { DecideOptions } from './decide.ts';

const HOUR_MS = 3_600_000;
const LIFETIMES_MS = [
  ...new Set([HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS, 30 * 24 * HOUR_MS, APPROVAL_LIMITS.defaultGrantMs]),
].toSorted((one, other) => one - other);

const MATCHES_TITLES = {
  exact: 'exactly these arguments',
  any: 'any arguments',
  conditions: 'arguments that meet all of these conditions',
} as const;

export interface AlwaysDialogProps {
  readonly approval: ApprovalView;
  /** Resolves with the problems that the gateway found in the grant. If there are none, the dialog closes. */
  readonly onDecide: (options: DecideOptions) => Promise<readonly string[]>;
  readonly onClose: () => void;
}

/** Asks what "always" should cover. The fields start with the plane's defaults. A sentence repeats what was chosen. */
export function AlwaysDialog({ approval, onDecide, onClose }: AlwaysDialogProps): VNode {
  const [matches, setMatches] = useState<'exact' | 'any' | 'conditions'>('exact');
  const [isAgentOnly, setAgentOnly] = useState(true);
  const [lifetimeMs, setLifetimeMs] = useState<number>(APPROVAL_LIMITS.defaultGrantMs);
  const [rows, setRows] = useState(() => pointersOf(approval.arguments.shown));
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [usesText, setUsesText] = useState('');
  const uses = usesText.trim() === '' ? undefined : Number(usesText);
  const areUsesValid = uses === undefined || (Number.isInteger(uses) && uses >= 1 && uses <= 1_000_000);
  const lifetime = showDuration(lifetimeMs);
  const { byRow, rest } = placeProblems(problems);
  /** Changes the conditions and clears the problems, which were about the previous text. */
  const changeRows = (next: readonly ConditionRow[]): void => {
    setRows(next);
    setProblems([]);
  };
  const submit = async (): Promise<void> => {
    const grant = {
      matches: matches === 'conditions' ? { conditions: rows.map(toCondition) } : matches,
      agentOnly: isAgentOnly,
      lifetimeMs,
      ...(uses === undefined ? {} : { uses }),
    };
    setBusy(true);
    setProblems(await onDecide({ decision: 'allow-always', grant }).finally(() => setBusy(false)));
  };
  return (
    <Dialog title="Allow always" wide={matches === 'conditions'} onClose={onClose}>
      <form
        class="always"
        onSubmit={(event) => {
          event.preventDefault();
          if (areUsesValid && !isBusy) void submit();
        }}
      >
        <fieldset>
          <legend>Which calls</legend>
          <Choice name="matches" isChosen={matches === 'exact'} onChoose={() => setMatches('exact')}>
            These arguments
          </Choice>
          <Choice name="matches" isChosen={matches === 'any'} onChoose={() => setMatches('any')}>
            Any arguments
          </Choice>
          <Choice name="matches" isChosen={matches === 'conditions'} onChoose={() => setMatches('conditions')}>
            Arguments that meet conditions
          </Choice>
        </fieldset>
        {matches === 'conditions' ? <ConditionFields rows={rows} problems={byRow} onChange={changeRows} /> : null}
        {rest.length === 0 ? null : (
          <ul class="problem" role="alert">
            {rest.map((problem) => (
              <li key={problem}>
                <Inert text={problem} />
              </li>
            ))}
          </ul>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={isAgentOnly}
            onChange={(event) => setAgentOnly(event.currentTarget.checked)}
          />
          <span>
            Only agent <Inert text={approval.agent} />
          </span>
        </label>
        <div class="field-row">
          <label class="field">
            For
            <select value={lifetimeMs} onChange={(event) => setLifetimeMs(Number(event.currentTarget.value))}>
              {LIFETIMES_MS.map((ms) => (
                <option value={ms} key={ms}>
                  {showDuration(ms)}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            At most so many times
            <input
              type="text"
              inputMode="numeric"
              placeholder="no limit"
              value={usesText}
              aria-invalid={!areUsesValid}
              onInput={(event) => setUsesText(event.currentTarget.value)}
            />
          </label>
        </div>
        <p class="summary" role="status">
          {isAgentOnly ? 'Agent ' : 'Every agent'}
          {isAgentOnly ? <Inert text={approval.agent} /> : null} of <Inert text={approval.subject} /> may call{' '}
          <strong class="mono">
            <Inert text={approval.tool} />
          </strong>{' '}
          with {MATCHES_TITLES[matches]} for {lifetime}
          {uses === undefined ? '' : `, ${uses === 1 ? 'once' : `${usesText.trim()} times`}`}, and nobody is asked.
        </p>
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            disabled={!areUsesValid || isBusy || (matches === 'conditions' && rows.length === 0)}
          >
            Allow always
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: string;
}

function Choice({ name, isChosen, onChoose, children }: ChoiceProps): VNode {
  return (
    <label class="check">
      <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
      {children}
    </label>
  );
}
