/**
 * Spans for requests, each of which begins a trace: a client could otherwise hide what it does, or have all of it recorded. Work that the request
 * causes is traced below it, as its `traceparent` replaces the client's.
 */
import type { FastifyRequest } from 'fastify'
import { type Span, type Tracing, traceparentIn } from '../base/tracing.ts'
import type { App } from './instance.ts'

export function traceRequests(app: App, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers } = request
    const route = (!request.is404 && request.routeOptions.url) || ''
    const span = tracing.begin(`${method} ${route}`.trimEnd(), {
      link: traceparentIn(headers.traceparent),
      attributes: { 'http.request.method': method, 'http.route': route },
      isRequest: true,
    })
    spans.set(request, span)
    headers.traceparent = span.traceparent
    done()
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    spans.get(request)?.end({ 'http.response.status_code': statusCode }, statusCode >= 500)
    done()
  })
}
