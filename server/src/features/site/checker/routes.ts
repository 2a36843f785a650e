/** Serves the offline checker, for people who want to keep it. */
import { readFileSync } from 'node:fs'
import type { App } from '../../../http/instance.ts'
import { HTML_TYPE } from '../../../web/document.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { CHECKER_FILE } from './file.tsx'

export function checkerRoutes(app: App): void {
  const page = readFileSync(CHECKER_FILE)
  // The page's own policy forbids it everything but its own code.
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page.toString('utf8'))![1]!
  app.get(publicPaths.checker, async (_request, reply) =>
    reply
      .type(HTML_TYPE)
      .headers({
        'content-security-policy': `${policy.replaceAll('&#39;', "'")}; frame-ancestors 'none'`,
        'cache-control': 'public, max-age=300',
      })
      .send(page),
  )
}
