/**
 * All attribute names of Sallyport's spans. The GenAI and MCP names are those of the OpenTelemetry conventions, which are still in
 * development. When the conventions change, change the names here.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  agent: 'gen_ai.agent.name',
  mcpMethod: 'mcp.method.name',
  errorType: 'error.type',
  upstreamStatus: 'http.response.status_code',
  stage: 'sallyport.stage',
  callId: 'sallyport.call.id',
  parentCallId: 'sallyport.call.parent_id',
  attemptId: 'sallyport.attempt.id',
  tenant: 'sallyport.tenant',
  session: 'sallyport.session.id',
  run: 'sallyport.run.id',
  via: 'sallyport.via',
  result: 'sallyport.result',
  outcome: 'sallyport.outcome',
  executed: 'sallyport.executed',
  category: 'sallyport.error.category',
  retryable: 'sallyport.error.retryable',
  recovered: 'sallyport.recovered',
  resumed: 'sallyport.resumed',
  runner: 'sallyport.runner',
  effect: 'sallyport.effect',
  argumentBytes: 'sallyport.arguments.bytes',
  blockedBy: 'sallyport.blocked.by',
  blockedById: 'sallyport.blocked.by_id',
  approvalId: 'sallyport.approval.id',
  resolution: 'sallyport.approval.resolution',
  detector: 'sallyport.loop.detector',
  count: 'sallyport.loop.count',
  hook: 'sallyport.hook.id',
  hookFailure: 'sallyport.hook.failure',
} as const;

export const EXECUTE_TOOL = 'execute_tool';
/** The value of `gen_ai.tool.type` for all tools: in the conventions, the application runs a `function` when the agent asks for it. */
export const FUNCTION = 'function';
export const MCP_TOOL_CALL = 'tools/call';

/** Attributes of the process. */
export const RESOURCE = {
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  serviceInstance: 'service.instance.id',
  processId: 'process.pid',
  role: 'sallyport.role',
} as const;

export const SCOPE = 'sallyport';
