/** Loads the SDK of OpenTelemetry where the environment says where traces go. Its own variables, `OTEL_...`, apply. */
import { settledWithin } from '../base/time-limit.ts'
import { NO_TRACING, type Tracing, tracingWith } from '../base/tracing.ts'
import { VERSION } from '../base/version.ts'
import { ConfigError, type HostConfig } from '../config/config.ts'

/** The time limit for sending the last spans: a collector that is away must not hold up the end. */
const LONGEST_END_MS = 3_000

/**
 * Opens tracing.
 * @throws ConfigError when the SDK is not installed
 */
export async function openTracing({ sendsTraces }: Pick<HostConfig, 'sendsTraces'>): Promise<Tracing> {
  if (!sendsTraces) return NO_TRACING
  const [{ BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await loadSdk()
  const named = resources.resourceFromAttributes({ 'service.name': 'claimcheck', 'service.version': VERSION })
  const provider = new BasicTracerProvider({
    resource: named.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const close = async () => void (await settledWithin(provider.shutdown(), LONGEST_END_MS))
  return tracingWith(provider.getTracer('claimcheck', VERSION), close)
}

async function loadSdk() {
  try {
    return await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ConfigError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: traces need the SDK of OpenTelemetry, which is not installed: npm install @opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/resources@2.12.1 @opentelemetry/exporter-trace-otlp-http@0.223.1, or leave the variable out',
    ])
  }
}
