import type { VNode } from 'preact';
import { AUDIT_EVENTS } from '../../../../src/domain/audit/audit-record.ts';
import { OUTCOME_KINDS } from '../../../../src/domain/outcome/outcome.ts';
import { Button } from '../../components/button.tsx';
import { filterOf, type AuditFilter } from './audit-filter.ts';

export interface FilterFormProps {
  readonly filter: AuditFilter;
  readonly onSearch: (filter: AuditFilter) => void;
}

/** Fields that are folded away until one of them is set. */
const RARER = ['from', 'to', 'callId', 'tenant', 'by'] as const;

export function FilterForm({ filter, onSearch }: FilterFormProps): VNode {
  const search = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = [...form].map(([name, value]) => [name, typeof value === 'string' ? value : ''] as const);
    onSearch(filterOf(Object.fromEntries(given)));
  };
  return (
    <form class="card audit-filter" role="search" aria-label="Search the audit" onSubmit={search}>
      <div class="audit-fields">
        <Text name="tool" label="Tool" filter={filter} />
        <Text name="agent" label="Agent" filter={filter} />
        <Text name="subject" label="Subject" filter={filter} />
        <Choice name="event" label="Event" filter={filter} words={AUDIT_EVENTS} />
        <Choice name="outcome" label="Ended" filter={filter} words={['not-ok', ...OUTCOME_KINDS]} />
      </div>
      <details open={RARER.some((name) => filter[name] !== undefined)}>
        <summary>Time, call, tenant and who</summary>
        <div class="audit-fields">
          <Moment name="from" label="From" filter={filter} />
          <Moment name="to" label="Before" filter={filter} />
          <Text name="callId" label="Call" filter={filter} />
          <Text name="tenant" label="Tenant" filter={filter} />
          <Text name="by" label="By" filter={filter} />
        </div>
      </details>
      <div class="audit-filter-actions">
        <Button kind="primary" type="submit">
          Search
        </Button>
        <Button kind="quiet" onClick={() => onSearch({})}>
          Clear
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly name: keyof AuditFilter;
  readonly label: string;
  readonly filter: AuditFilter;
}

function Text({ name, label, filter }: FieldProps): VNode {
  return (
    <label class="field">
      {label}
      <input
        name={name}
        data-filter={name === 'tool' ? '' : undefined}
        defaultValue={filter[name] ?? ''}
        autocomplete="off"
        spellcheck={false}
        maxLength={256}
      />
    </label>
  );
}

function Moment({ name, label, filter }: FieldProps): VNode {
  return (
    <label class="field audit-moment">
      {label}
      <input name={name} type="datetime-local" step={1} defaultValue={filter[name] ?? ''} />
    </label>
  );
}

function Choice({ name, label, filter, words }: FieldProps & { readonly words: readonly string[] }): VNode {
  return (
    <label class="field">
      {label}
      <select name={name}>
        <option value="">any</option>
        {words.map((word) => (
          <option key={word} value={word} selected={filter[name] === word}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
