import type { VNode } from 'preact';
import { Button } from '../components/button.tsx';
import { Inert } from '../components/inert.tsx';
import type { Comparison } from '../../../src/domain/policy/rule.ts';
import { COMPARISONS, type ConditionRow } from './conditions.ts';

export interface ConditionFieldsProps {
  readonly rows: readonly ConditionRow[];
  /** The problems that the gateway found, by the index of the row. */
  readonly problems: ReadonlyMap<number, string>;
  readonly onChange: (rows: readonly ConditionRow[]) => void;
}

/** Fields for conditions. All of them must hold for the arguments of a call. */
export function ConditionFields({ rows, problems, onChange }: ConditionFieldsProps): VNode {
  const set = (index: number, change: Partial<ConditionRow>): void =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  return (
    <div class="conditions">
      {rows.map((row, index) => {
        const problem = problems.get(index);
        const problemId = `condition-problem-${index}`;
        return (
          <fieldset class="condition" key={index}>
            <legend>{`Condition ${index + 1}`}</legend>
            <label class="field">
              Argument
              <input
                class="mono"
                value={row.at}
                placeholder="/to"
                autoComplete="off"
                spellcheck={false}
                aria-invalid={problem !== undefined}
                aria-describedby={problem === undefined ? undefined : problemId}
                onInput={({ currentTarget }) => set(index, { at: currentTarget.value })}
              />
            </label>
            <label class="field">
              Comparison
              <select
                value={row.comparison}
                onChange={({ currentTarget }) => set(index, { comparison: currentTarget.value as Comparison })}
              >
                {Object.entries(COMPARISONS).map(([name, { title }]) => (
                  <option value={name} key={name}>
                    {title}
                  </option>
                ))}
              </select>
            </label>
            <label class="field">
              Value
              <input
                class="mono"
                value={row.value}
                placeholder={COMPARISONS[row.comparison].hint}
                autoComplete="off"
                spellcheck={false}
                aria-invalid={problem !== undefined}
                aria-describedby={problem === undefined ? undefined : problemId}
                onInput={({ currentTarget }) => set(index, { value: currentTarget.value })}
              />
            </label>
            <Button
              label={`Remove condition ${index + 1}`}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
            {problem === undefined ? null : (
              <p class="problem" id={problemId}>
                <Inert text={problem} />
              </p>
            )}
          </fieldset>
        );
      })}
      <Button onClick={() => onChange([...rows, { at: '/', comparison: 'equals', value: '' }])}>Add a condition</Button>
    </div>
  );
}
