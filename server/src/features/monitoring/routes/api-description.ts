/** The route of the API description for programs. */
import type { App } from '../../../http/instance.ts'

export function docsRoutes(app: App): void {
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
