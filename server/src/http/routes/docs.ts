/** The interface description, for programs and for people. */
import swaggerUi from '@fastify/swagger-ui'
import type { App } from '../instance.ts'

/** After the other routes. */
export async function docsRoutes(app: App): Promise<void> {
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Everything is served from here: no validator service is asked, and the policy allows nothing else.
    validatorUrl: false,
    staticCSP: true,
    uiConfig: { deepLinking: true, docExpansion: 'list' },
  })
}
