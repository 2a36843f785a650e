/** The paths of the public pages, and of the files that all pages load. */
import { VERSION } from '../base/version.ts'

export const publicPaths = {
  home: '/',
  assets: '/assets',
  receipt: (receiptId: string) => `/r/${encodeURIComponent(receiptId)}`,
  badge: (receiptId: string) => `/r/${encodeURIComponent(receiptId)}.svg`,
  bundle: (receiptId: string) => `/r/${encodeURIComponent(receiptId)}.json`,
  checker: '/check.html',
  log: '/log',
  docs: '/docs',
} as const

/** Makes the path of a file that pages load. It changes with the version, so that browsers may keep the file for ever. */
export function assetPath(name: string): string {
  return `${publicPaths.assets}/${VERSION}/${name}`
}
