/** Serves the files that pages load: style, icon and browser scripts. Their addresses change with the version. */
import { readFileSync } from 'node:fs'
import type { App } from '../http/instance.ts'
import { assetPath } from './paths.ts'

const FOLDERS = { css: '../assets/', svg: '../../assets/', js: '../browser/' } as const
const TYPES = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const

const FILES = [
  'pages.css',
  'icon.svg',
  'copy.js',
  'docs-search.js',
  'live.js',
  'log-check.js',
  'once.js',
  'passkeys.js',
  'receipt.js',
] as const

export function assetRoutes(app: App): void {
  for (const name of FILES) {
    const type = name.slice(name.indexOf('.') + 1) as keyof typeof TYPES
    const content = readFileSync(new URL(FOLDERS[type] + name, import.meta.url))
    app.get(assetPath(name), { config: { cost: 'file' }, schema: { hide: true } }, async (_request, reply) =>
      reply.type(TYPES[type]).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    )
  }
}
