import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { OUTCOME_FILTERS, type OutcomeFilter } from '../../../src/domain/call/call-filter.ts';
import { Button } from '../components/button.tsx';
import { SearchField } from '../components/search-field.tsx';
import { BETWEEN, PERIODS, type CallFilter, type FilterName } from './call-filter.ts';

const STATES = ['live', 'queued', 'running', 'parked', 'settled'];
const OUTCOME_TITLES: Readonly<Partial<Record<OutcomeFilter, string>>> = {
  'not-ok': 'not ok',
  errors: 'errors',
  refused: 'denied or blocked',
};
const OUTCOMES = OUTCOME_FILTERS.map((name) => [name, OUTCOME_TITLES[name] ?? name] as const);

export interface FilterFormProps {
  readonly filter: CallFilter;
  readonly onChange: (filter: CallFilter) => void;
  /** Gets the filter while the person types a search. Must not make an entry in the browser's history for each key. */
  readonly onType: (filter: CallFilter) => void;
}

export function FilterForm({ filter, onChange, onType }: FilterFormProps): VNode {
  // Used only on a phone, which has too little room to show the form all the time.
  const [isOpen, setOpen] = useState(false);
  const count = Object.keys(filter).length;
  const withField = (name: FilterName, value: string): CallFilter => {
    const kept = Object.entries(filter).filter(
      ([one]) => one !== name && !(name === 'last' && (one === 'from' || one === 'to')),
    );
    return Object.fromEntries(value === '' ? kept : [...kept, [name, value]]);
  };
  const set = (name: FilterName, value: string): void => onChange(withField(name, value));
  const bind = (name: FilterName) => ({
    value: filter[name] ?? '',
    onChange: (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      set(name, event.currentTarget.value.trim()),
  });
  return (
    <form
      class={isOpen ? 'filters filters-open' : 'filters'}
      role="search"
      aria-label="Filter calls"
      onSubmit={(event) => event.preventDefault()}
    >
      <button type="button" class="button phone-only" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {count === 0 ? 'Filter' : `Filter (${count})`}
      </button>
      <SearchField value={filter.text ?? ''} onSearch={(text) => onType(withField('text', text))} />
      <Choices title="State" {...bind('state')} options={STATES.map((name) => [name, name])} />
      <Choices title="Outcome" {...bind('outcome')} options={OUTCOMES} />
      <Words title="Tool" {...bind('tool')} />
      <Words title="Agent" {...bind('agent')} />
      <Words title="Subject" {...bind('subject')} />
      <Words title="Run" {...bind('run')} />
      <Choices
        title="Time"
        {...bind('last')}
        options={[
          ...Object.entries(PERIODS).map(([name, { title }]) => [name, title] as const),
          [BETWEEN, 'Between …'],
        ]}
      />
      {filter.last === BETWEEN || filter.from !== undefined || filter.to !== undefined ? (
        <>
          <Moment title="From" value={filter.from} onSet={(value) => set('from', value)} />
          <Moment title="To" value={filter.to} onSet={(value) => set('to', value)} />
        </>
      ) : null}
      {count === 0 ? null : (
        <Button kind="quiet" onClick={() => onChange({})}>
          Show all
        </Button>
      )}
    </form>
  );
}

interface WordsProps {
  readonly title: string;
  readonly value: string;
  readonly onChange: (event: { currentTarget: HTMLInputElement }) => void;
}

/** A field for a whole name: the list changes when the name is complete. What the person has typed is kept while the list around it changes. */
function Words({ title, value, onChange }: WordsProps): VNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <label class="field">
      {title}
      <input
        type="search"
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={onChange}
        onKeyDown={(event) => {
          // Enter leaves the field, so that the next keys are shortcuts for the list.
          if (event.key === 'Enter') event.currentTarget.blur();
        }}
      />
    </label>
  );
}

interface MomentProps {
  readonly title: string;
  /** Milliseconds since 1970, as in the address. */
  readonly value: string | undefined;
  readonly onSet: (value: string) => void;
}

function Moment({ title, value, onSet }: MomentProps): VNode {
  return (
    <label class="field">
      {title}
      <input
        type="datetime-local"
        value={value === undefined ? '' : toLocal(Number(value))}
        onChange={(event) => {
          const at = new Date(event.currentTarget.value).getTime();
          onSet(Number.isNaN(at) ? '' : String(at));
        }}
      />
    </label>
  );
}

/** The format that the input field needs: local time without a zone. */
function toLocal(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return Number.isNaN(shifted.getTime()) ? '' : shifted.toISOString().slice(0, 16);
}

interface ChoicesProps {
  readonly title: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (event: { currentTarget: HTMLSelectElement }) => void;
}

function Choices({ title, value, options, onChange }: ChoicesProps): VNode {
  return (
    <label class="field">
      {title}
      <select value={value} onChange={onChange}>
        <option value="">any</option>
        {options.map(([name, text]) => (
          <option value={name} key={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
