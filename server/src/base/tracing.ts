/** Spans of OpenTelemetry, each under a parent that is named by its `traceparent`: a claim's checks may be hours and hosts apart. */
import {
  isSpanContextValid,
  type Span as OpenSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

export interface Tracing {
  /** False: spans are not recorded, and begin costs next to nothing. */
  readonly isOn: boolean
  /** @param parent W3C Trace Context in a valid form; without it a trace begins */
  begin(name: string, options?: SpanOptions): Span
  /** Sends what is left. */
  close(): Promise<void>
}

export interface SpanOptions {
  readonly parent?: string | null | undefined
  readonly attributes?: Attributes
  /** It answers a request. */
  readonly isRequest?: boolean
}

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** Names it as a parent. */
  readonly traceparent: string | undefined
  end(attributes?: Attributes, hasFailed?: boolean): void
}

const NO_SPAN: Span = { traceparent: undefined, end() {} }

export const NO_TRACING: Tracing = { isOn: false, begin: () => NO_SPAN, close: async () => {} }

export function tracingWith(tracer: Tracer, close: () => Promise<void>): Tracing {
  return {
    isOn: true,
    begin(name, { parent, attributes, isRequest = false } = {}) {
      const kind = isRequest ? SpanKind.SERVER : SpanKind.INTERNAL
      return toSpan(tracer.startSpan(name, { kind, ...(attributes ? { attributes } : {}) }, contextOf(parent)))
    },
    close,
  }
}

function toSpan(span: OpenSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    end(attributes = {}, hasFailed = false) {
      span.setAttributes(attributes)
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

function contextOf(parent: string | null | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = (parent ?? '').split('-')
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const spanContext = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT
}

/** Version, id of the trace, id of the caller's span, and flags. What later versions add after them is left out. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|(?<!^00.*)-)/

/** Of a header. What is not valid is ignored, as W3C Trace Context says. */
export function traceparentIn(header: unknown): string | undefined {
  return typeof header === 'string' ? TRACEPARENT.exec(header)?.[0] : undefined
}
