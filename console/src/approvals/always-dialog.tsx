import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Inert } from '../components/inert.tsx';
import type { Wish } from './decide.ts';

const HOUR_MS = 3_600_000;
const LIFETIMES: readonly (readonly [ms: number, name: string])[] = [
  [HOUR_MS, '1 hour'],
  [8 * HOUR_MS, '8 hours'],
  [24 * HOUR_MS, '1 day'],
  [7 * 24 * HOUR_MS, '7 days'],
  [30 * 24 * HOUR_MS, '30 days'],
];

export interface AlwaysDialogProps {
  readonly approval: ApprovalView;
  readonly onDecide: (wish: Wish) => void;
  readonly onClose: () => void;
}

/** What "always" is to mean. The narrowest choice is the first one; a sentence says what was chosen. */
export function AlwaysDialog({ approval, onDecide, onClose }: AlwaysDialogProps): VNode {
  const [matches, setMatches] = useState<'exact' | 'any'>('exact');
  const [isAgentOnly, setAgentOnly] = useState(true);
  const [lifetimeMs, setLifetimeMs] = useState(HOUR_MS);
  const [usesText, setUsesText] = useState('');
  const uses = usesText.trim() === '' ? undefined : Number(usesText);
  const areUsesValid = uses === undefined || (Number.isInteger(uses) && uses >= 1 && uses <= 1_000_000);
  const lifetime = LIFETIMES.find(([ms]) => ms === lifetimeMs)?.[1] ?? '';
  return (
    <Dialog title="Allow always" onClose={onClose}>
      <form
        class="always"
        onSubmit={(event) => {
          event.preventDefault();
          if (!areUsesValid) return;
          const grant = { matches, agentOnly: isAgentOnly, lifetimeMs, ...(uses === undefined ? {} : { uses }) };
          onDecide({ decision: 'allow-always', grant });
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
        </fieldset>
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
              {LIFETIMES.map(([ms, name]) => (
                <option value={ms} key={ms}>
                  {name}
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
          with {matches === 'exact' ? 'exactly these arguments' : 'any arguments'} for {lifetime}
          {uses === undefined ? '' : `, ${uses === 1 ? 'once' : `${usesText.trim()} times`}`}, and nobody is asked.
        </p>
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!areUsesValid}>
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
