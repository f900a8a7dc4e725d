// Ends with 0 if the process in this container answers that it lives.
const port = process.env.SALLYPORT_WORKER_HEALTH_PORT ?? '8081';
try {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
