/** The interface description, for programs and for people. */
import swaggerUi from '@fastify/swagger-ui'
import type { App } from '../instance.ts'

// Everything is served from here, and nobody else is asked.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** After the other routes. */
export async function docsRoutes(app: App): Promise<void> {
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    validatorUrl: false,
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: { deepLinking: true, docExpansion: 'list', layout: 'BaseLayout' },
    theme: { title: 'Claimcheck API' },
  })
}
