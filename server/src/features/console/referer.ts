/** The page that a form was sent from. */
import { parseUrl } from '@claimcheck/core/plugin'
import type { FastifyRequest } from 'fastify'
import { paths, returnPath } from '../../web/console-paths.ts'
import { originOf } from '../../web/origin.ts'

/** From the Referer, which our pages let browsers send; without it the start page. */
export function refererPath(request: FastifyRequest, publicUrl: string | undefined): string {
  const { referer = '' } = request.headers
  if (!parseUrl(referer)) return paths.home
  const { origin, pathname, search } = new URL(referer)
  return origin === originOf(request, publicUrl) ? returnPath(pathname + search) : paths.home
}
