import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../../base/json.ts';
import { offerOwnPackage } from '../../base/own-package.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { conversations } from './conversations/conversations.ts';
import type { ServiceDefinition } from './define-service.ts';
import { knowledge } from './knowledge/knowledge.ts';
import { models } from './models/models.ts';
import type { ConfiguredService } from './registry.ts';
import { tasks } from './tasks/tasks.ts';

/** The services that ship with the plane. @internal */
export const BUILT_IN: Readonly<Record<string, ServiceDefinition>> = { conversations, knowledge, models, tasks };

/** Shipped services that need no configuration. They are available without an entry, and start when a module needs them. */
const READY_MADE: readonly string[] = ['conversations', 'knowledge', 'tasks'];

/** One entry of `services` in the configuration. */
export interface ServiceEntry {
  /** File of an operator's own service; absent for a shipped one. Only the worker loads it. */
  readonly module?: string;
  readonly config?: JsonObject;
  /** False: do not offer this shipped service. */
  readonly enabled?: boolean;
}

export type ServiceEntries = Readonly<Record<string, ServiceEntry>>;

const METHOD = /^[a-z][A-Za-z0-9]{0,63}$/;
const MAX_METHODS = 100;

/**
 * Returns every service that can be started: all configured ones, and the shipped ones that need no configuration. Throws SERVICES_INVALID with all
 * problems.
 */
export async function loadServices(entries: ServiceEntries): Promise<Map<string, ConfiguredService>> {
  const services = new Map<string, ConfiguredService>();
  const problems: string[] = [];
  for (const name of READY_MADE) {
    if (entries[name] === undefined) services.set(name, { definition: BUILT_IN[name]!, config: {} });
  }
  for (const [name, entry] of Object.entries(entries)) {
    if (entry.enabled === false) continue;
    const found = await loadOne(name, entry);
    if (typeof found === 'string') problems.push(`services.${name}: ${found}`);
    else services.set(name, { definition: found, config: entry.config ?? {} });
  }
  if (problems.length > 0) throw planeError('SERVICES_INVALID', { problems });
  return services;
}

async function loadOne(name: string, { module }: ServiceEntry): Promise<ServiceDefinition | string> {
  if (!NAME_PATTERN.test(name)) return 'its name can have letters, digits, _ and - only';
  const shipped = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (module === undefined) {
    return shipped ?? `there is no such service; shipped are ${Object.keys(BUILT_IN).join(', ')}, others name a module`;
  }
  if (shipped !== undefined) return 'a service of this name is shipped; give yours another one';
  try {
    offerOwnPackage(module);
    const { default: exported } = (await import(pathToFileURL(module).href)) as { default?: unknown };
    return checkDefinition(exported);
  } catch (error) {
    return `${module} cannot be loaded: ${error instanceof Error ? error.message : 'it threw'}`;
  }
}

function checkDefinition(exported: unknown): ServiceDefinition | string {
  if (typeof exported !== 'object' || exported === null) return 'the file has no service as its default export';
  const { start, methods, needs = [], uses = [] } = exported as Partial<ServiceDefinition>;
  if (typeof start !== 'function') return 'it has no function "start"';
  if (!isTexts(methods) || methods.length > MAX_METHODS || !methods.every((method) => METHOD.test(method))) {
    return '"methods" must be a list of names of methods';
  }
  // `await` on the handle would call a method named `then`.
  if (methods.includes('then')) return 'a method cannot be called "then"';
  if (!isTexts(needs) || !isTexts(uses)) return '"needs" and "uses" must be lists of services';
  return exported as ServiceDefinition;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
