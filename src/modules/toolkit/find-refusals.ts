import type { PublishedTool } from '../../domain/tool/catalog.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { nameTools } from './named-tools.ts';

/** The provider whose API receives the request in the end, whatever library sends it. */
export const PROVIDERS = ['openai', 'anthropic'] as const;
export type Provider = (typeof PROVIDERS)[number];

export interface Refusal {
  readonly tool: ToolId;
  readonly reason: string;
}

interface ProviderRules {
  /** Keywords that are allowed in a schema, but not at its root. */
  readonly notAtRoot: readonly string[];
  readonly propertyName?: RegExp;
  readonly maxTools?: number;
}

/** Rules whose violation these APIs answer with status 400. */
const RULES: Readonly<Record<Provider, ProviderRules>> = {
  openai: { notAtRoot: ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'], maxTools: 128 },
  anthropic: { notAtRoot: ['oneOf', 'anyOf', 'allOf'], propertyName: /^[a-zA-Z0-9_.-]{1,64}$/ },
};

/**
 * The tools for which a provider is known to refuse the whole request, in the order in which the formats list them. The formats pass
 * schemas on unchanged, because a rewritten schema would differ from what the worker checks. So the caller decides whether to leave the
 * tools out or to change their schemas.
 */
export function findRefusals(tools: readonly PublishedTool[], provider: Provider): Refusal[] {
  if (!Object.hasOwn(RULES, provider))
    throw new TypeError(
      `provider must be ${PROVIDERS.map((name) => `"${name}"`).join(' or ')}, not ${JSON.stringify(provider)}`,
    );
  const rules = RULES[provider];
  return nameTools(tools).flatMap(({ tool }, index) => {
    const reasons = [...refusedKeywords(tool, rules), ...refusedProperties(tool, rules)];
    if (rules.maxTools !== undefined && index >= rules.maxTools) reasons.push(`more than ${rules.maxTools} tools`);
    return reasons.map((reason) => ({ tool: tool.id, reason }));
  });
}

function refusedKeywords({ inputSchema }: ToolDeclaration, { notAtRoot }: ProviderRules): string[] {
  return notAtRoot
    .filter((keyword) => Object.hasOwn(inputSchema, keyword))
    .map((keyword) => `"${keyword}" at the root of its input schema`);
}

function refusedProperties({ inputSchema }: ToolDeclaration, { propertyName }: ProviderRules): string[] {
  const { properties } = inputSchema;
  if (propertyName === undefined || !isJsonObject(properties)) return [];
  return Object.keys(properties)
    .filter((name) => !propertyName.test(name))
    .map((name) => `the property name ${JSON.stringify(name)}`);
}
