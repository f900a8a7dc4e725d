import type { VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import type { Page } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Inert } from '../../components/inert.tsx';
import { Failure } from '../../components/states.tsx';
import { readArguments } from '../../read-arguments.ts';
import { useResource } from '../../use-resource.ts';
import type { Asked, Explanation } from './access-types.ts';
import { ExplanationView } from './explanation-view.tsx';

interface Catalog {
  readonly modules: readonly { readonly id: string; readonly tools: readonly CatalogTool[] }[];
}

interface CatalogTool {
  readonly id: string;
  readonly description: string;
  readonly effect: string;
  readonly privileged: boolean;
  readonly inputSchema: unknown;
}

export interface SimulatorProps {
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly tool: string;
}

/** Shows what would happen to a call. It never runs the call. */
export function Simulator({ tenant, subject, agent: firstAgent, tool: firstTool }: SimulatorProps): VNode {
  const [agent, setAgent] = useState(firstAgent);
  const [tool, setTool] = useState(firstTool);
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<{ explanation?: Explanation; error?: unknown }>({});
  const [isAsking, setAsking] = useState(false);
  // Arguments may be left out. Rules about arguments then stay undecided.
  const read = text.trim() === '' ? undefined : readArguments(text);
  const problem = read?.kind === 'invalid' ? read.problem : undefined;
  const catalog = useResource((signal) => api.get<Catalog>('/v1/catalog', { signal }), []);
  const agents = useResource((signal) => api.get<Page<{ name: string }>>('/v1/agents', { signal }), []);
  const known = catalog.data?.modules.flatMap(({ tools }) => tools) ?? [];

  const ask = async (): Promise<void> => {
    if (agent.trim() === '' || tool.trim() === '' || problem !== undefined) return;
    const asked: Asked = {
      tenant,
      subject,
      agent: agent.trim(),
      tool: tool.trim(),
      ...(read?.kind === 'valid' ? { arguments: read.value } : {}),
    };
    setAsking(true);
    try {
      setAnswer({ explanation: await api.post<Explanation>('/v1/explain', asked) });
    } catch (error) {
      setAnswer({ error });
    } finally {
      setAsking(false);
    }
  };
  useEffect(() => void ask(), [tenant, subject]);

  return (
    <div class="simulator">
      <form
        class="card simulator-form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <Choice
          label="Agent"
          value={agent}
          names={agents.data?.items.map(({ name }) => name) ?? []}
          onInput={setAgent}
        />
        <Choice label="Tool" value={tool} names={known.map(({ id }) => id)} onInput={setTool} />
        <AboutTool tool={known.find(({ id }) => id === tool.trim())} />
        <ArgumentsField text={text} problem={problem} onInput={setText} />
        <Button kind="primary" type="submit" disabled={isAsking || problem !== undefined}>
          Check
        </Button>
        <p class="hint">This only asks. No tool is run, nothing is queued, nobody is notified.</p>
      </form>
      <Answer {...answer} />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly onInput: (value: string) => void;
}

function Choice({ label, value, names, onInput }: ChoiceProps): VNode {
  const id = useId();
  return (
    <div>
      <label class="field">
        {label}
        <input
          value={value}
          list={id}
          required
          autocomplete="off"
          spellcheck={false}
          maxLength={256}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      </label>
      <datalist id={id}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </div>
  );
}

function AboutTool({ tool }: { readonly tool: CatalogTool | undefined }): VNode | null {
  if (tool === undefined) return null;
  return (
    <div class="about-tool">
      <p class="hint">
        <Inert text={tool.description} />
      </p>
      <p class="hint">{`effect ${tool.effect}${tool.privileged ? ', privileged' : ''}`}</p>
      <details>
        <summary>Schema of its arguments</summary>
        <CodeBlock label="Schema of the arguments" text={JSON.stringify(tool.inputSchema, null, 2)} />
      </details>
    </div>
  );
}

interface ArgumentsFieldProps {
  readonly text: string;
  readonly problem: string | undefined;
  readonly onInput: (text: string) => void;
}

function ArgumentsField({ text, problem, onInput }: ArgumentsFieldProps): VNode {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>Arguments, as JSON</label>
      <textarea
        id={id}
        rows={5}
        spellcheck={false}
        placeholder={'{"to": "ada"}'}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <p id={`${id}-note`} class={problem === undefined ? 'hint' : 'field-problem'} aria-live="polite">
        {problem === undefined ? 'Leave it empty to learn whether the arguments matter.' : <Inert text={problem} />}
      </p>
    </div>
  );
}

function Answer({ explanation, error }: { readonly explanation?: Explanation; readonly error?: unknown }): VNode {
  return (
    <section class="card simulator-answer" aria-label="Answer" aria-live="polite">
      <h2>Answer</h2>
      {error === undefined ? null : <Failure error={error} />}
      {explanation === undefined ? null : <ExplanationView explanation={explanation} />}
      {explanation === undefined && error === undefined ? (
        <p class="hint">Name an agent and a tool, then check.</p>
      ) : null}
    </section>
  );
}
