import { filePath, fraction, group, option, optional, text, wholeNumber, yesOrNo } from './option.ts';

const ENDPOINT = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;
const SERVICE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export const telemetrySchema = group({
  traces: group({
    enabled: option(yesOrNo, false, 'Send a span per stage of each call to an OpenTelemetry collector.'),
    endpoint: option(
      text('an http:// or https:// address without a user or a query', ENDPOINT),
      'http://127.0.0.1:4318/v1/traces',
      'Where the collector takes OTLP over HTTP.',
    ),
    headersFile: optional(
      filePath,
      'File with headers for the collector, one `name: value` per line; readable by its owner only.',
    ),
    sampleRatio: option(fraction, 1, 'Part of the traces that begin here. One that a caller brought stays as it is.'),
    serviceName: option(text('letters, digits, _ . -', SERVICE_NAME), 'sallyport', 'Name of the service in traces.'),
  }).prefault({}),
  metrics: group({
    enabled: option(
      yesOrNo,
      false,
      'Count calls, and serve /metrics for Prometheus: a worker beside /healthz, the gateway to operators.',
    ),
    tools: option(wholeNumber(1, 5000), 100, 'Tools that have a label of their own; all others share one.'),
  }).prefault({}),
});
