interface Heading {
  readonly agents: readonly string[];
  readonly policyVersion: number;
}

/**
 * Rows of two policies must not stand side by side. Cells have no names, only their place in the page's own list of agents; without
 * declared agents that is a list of recent sessions, and a new one moves the others.
 */
export function belongsTo({ agents, policyVersion }: Heading, page: Heading): boolean {
  const isSameList = page.agents.length === agents.length && page.agents.every((agent, at) => agent === agents[at]);
  return isSameList && page.policyVersion === policyVersion;
}
