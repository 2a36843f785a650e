/** Traps at a real nginx: what the sites of the world are made of. */
import { createHash } from 'node:crypto'
import { textFingerprint } from '@claimcheck/core'
import type { Nginx } from '../destinations/nginx.ts'
import type { Play, Trap } from '../traps/trap.ts'
import { MINUTE_MS, type World } from './world.ts'

const TEXT = 'Version 2 is out.\n'
const OLD_TEXT = 'Version 1 is out.\n'

export function bytesOf(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

interface Place {
  readonly world: World
  readonly nginx: Nginx
  readonly host: string
  readonly url: (path: string) => string
}

function trap(
  name: string,
  [truth, verdict]: readonly [Trap['truth'], string],
  set: (place: Place) => Play,
  more: Pick<Trap, 'forgets'> = {},
): Trap<World> {
  return {
    name: `nginx: ${name}`,
    truth,
    verdict,
    ...more,
    async play(world) {
      const { host, nginx } = world.nginxSite()
      nginx.put(host, 'index.html', 'Welcome')
      return set({ world, nginx, host, url: (path) => `https://${host}/${path}` })
    },
  }
}

export const nginxTraps: readonly Trap<World>[] = [
  trap('a page is there', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'news.html', TEXT)
    return world.claim(url('news.html'), {
      facts: { answered_status: 200, redirected: false, bytes: TEXT.length, fingerprint: undefined },
      source: { provider: 'site', base_url: `https://${host}` },
    })
  }),
  trap(
    'a page has the claimed text, in another Unicode form',
    ['in_time', 'verified'],
    ({ world, nginx, host, url }) => {
      nginx.put(host, 'cafe.txt', '\r\ncafe\u0301 \r\n\r\n')
      return world.claim(url('cafe.txt'), { params: { content_fingerprint: textFingerprint('caf\u00e9') } })
    },
  ),
  trap('a file of bytes is the claimed one', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    const content = Uint8Array.from({ length: 700_000 }, (_, index) => (index * 7919) % 251)
    nginx.put(host, 'a.bin', content)
    return world.claim(url('a.bin'), {
      params: { status: 200, content_fingerprint: bytesOf(content).toUpperCase().replace('SHA', 'sha') },
    })
  }),
  trap('a folder is named without its slash', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'docs/index.html', TEXT)
    return world.claim(url('docs'), { facts: { redirected: true } })
  }),
  trap('every path answers 200, and only that is claimed', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'app/index.html', 'Not found, says the page.')
    return world.claim(url('app/news'))
  }),
  trap(
    'every path answers 200, and the content is claimed',
    ['elsewhere', 'mismatch/content_mismatch'],
    ({ world, nginx, host, url }) => {
      nginx.put(host, 'app/index.html', 'Not found, says the page.')
      return world.claim(url('app/news'), { params: { content_fingerprint: bytesOf(TEXT) } })
    },
  ),
  trap('a page never comes', ['never', 'failed/not_found'], ({ world, url }) =>
    world.claim(url('news.html'), { facts: { answered_status: 404 } }),
  ),
  trap('a page comes within the tolerance', ['in_time', 'verified'], ({ world, nginx, host, url }) =>
    world.claim(url('news.html'), {
      afterMs: 2 * MINUTE_MS,
      meanwhile: async () => nginx.put(host, 'news.html', TEXT),
    }),
  ),
  trap('a page comes after the tolerance', ['late', 'unverifiable/claim_ambiguous'], ({ world, nginx, host, url }) =>
    world.claim(url('news.html'), {
      afterMs: 7 * MINUTE_MS,
      meanwhile: async () => nginx.put(host, 'news.html', TEXT),
    }),
  ),
  trap('a page comes after the deadline', ['late', 'failed/not_found'], ({ world, nginx, host, url }) =>
    world.claim(url('news.html'), {
      afterMs: 10 * MINUTE_MS + 45_000,
      meanwhile: async () => nginx.put(host, 'news.html', TEXT),
    }),
  ),
  trap(
    'a page is missing, and the claim comes a minute late',
    ['unknowable', 'unverifiable/claim_ambiguous'],
    ({ world, url }) =>
      world.claim(url('news.html'), { claimed_at: new Date(world.clock.now() - MINUTE_MS).toISOString() }),
  ),
  trap(
    'a page is gone, which says that it was there',
    ['unknowable', 'unverifiable/claim_ambiguous'],
    ({ world, url }) => world.claim(url('gone/news')),
  ),
  trap('a page was taken down', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'news.html', TEXT)
    return world.claim(url('news.html'), {
      params: { status: 404 },
      afterMs: 20_000,
      meanwhile: async () => nginx.remove(host, 'news.html'),
    })
  }),
  trap('a page was taken down for good', ['in_time', 'verified'], ({ world, url }) =>
    world.claim(url('gone/news'), { params: { status: 410 } }),
  ),
  trap('a page was not taken down', ['elsewhere', 'mismatch/content_mismatch'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'news.html', TEXT)
    return world.claim(url('news.html'), { params: { status: 404 } })
  }),
  trap('a page keeps its old content', ['elsewhere', 'mismatch/content_mismatch'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'news.html', OLD_TEXT)
    return world.claim(url('news.html'), {
      params: { content_fingerprint: textFingerprint(TEXT) },
      facts: { fingerprint: textFingerprint(OLD_TEXT) },
    })
  }),
  trap('a page gets the claimed content', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'news.html', OLD_TEXT)
    return world.claim(url('news.html'), {
      params: { content_fingerprint: textFingerprint(TEXT) },
      afterMs: MINUTE_MS,
      meanwhile: async () => nginx.put(host, 'news.html', TEXT),
    })
  }),
  trap(
    'a page gets another content than claimed',
    ['unknowable', 'unverifiable/claim_ambiguous'],
    ({ world, nginx, host, url }) => {
      nginx.put(host, 'news.html', OLD_TEXT)
      return world.claim(url('news.html'), {
        params: { content_fingerprint: textFingerprint(TEXT) },
        afterMs: MINUTE_MS,
        meanwhile: async () => nginx.put(host, 'news.html', 'Version 3 is out.'),
      })
    },
  ),
  trap(
    'a page is there, and removed right after it was seen',
    ['in_time', 'verified'],
    ({ world, nginx, host, url }) => {
      nginx.put(host, 'news.html', TEXT)
      return world.claim(url('news.html'), { meanwhile: async () => nginx.remove(host, 'news.html') })
    },
  ),
  trap('a page that HEAD does not find', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'no-head/news.html', TEXT)
    return world.claim(url('no-head/news.html'))
  }),
  trap(
    'a page that takes few requests',
    ['in_time', 'unverifiable/rate_limited'],
    ({ world, nginx, host, url }) => {
      // It is missing in the only answer.
      return world.claim(url('few/news.html'), {
        ...world.soon(),
        meanwhile: async () => nginx.put(host, 'few/news.html', TEXT),
      })
    },
    { forgets: true },
  ),
  trap('a page for members', ['unknowable', 'unverifiable/permission_denied'], ({ world, url }) =>
    world.claim(url('members/news'), world.soon()),
  ),
  trap('a page for members is claimed to be for members', ['in_time', 'verified'], ({ world, url }) =>
    world.claim(url('members/news'), { params: { status: 401 } }),
  ),
  trap('what is behind the site is down', ['unknowable', 'unverifiable/destination_unavailable'], ({ world, url }) =>
    world.claim(url('down/news'), world.soon()),
  ),
  trap('the site is in maintenance, and then up', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'down', '')
    nginx.put(host, 'news.html', TEXT)
    return world.claim(url('news.html'), { afterMs: MINUTE_MS, meanwhile: async () => nginx.remove(host, 'down') })
  }),
  trap('the site is claimed to be in maintenance, and is', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.put(host, 'down', '')
    return world.claim(url('news.html'), { params: { status: 503 } })
  }),
  trap(
    'the site is claimed to be in maintenance, and is up',
    ['elsewhere', 'mismatch/content_mismatch'],
    ({ world, url }) => world.claim(url(''), { params: { status: 503 } }),
  ),
  trap(
    'the site goes down before the deadline',
    ['unknowable', 'unverifiable/destination_unavailable'],
    ({ world, nginx, host, url }) =>
      world.claim(url('news.html'), { afterMs: 9 * MINUTE_MS, meanwhile: async () => nginx.put(host, 'down', '') }),
  ),
  trap('a cache keeps the answer from before the page came', ['in_time', 'verified'], ({ world, url }) =>
    world.claim(url('copies/news')),
  ),
  trap(
    'a small file is 40 MiB when it is decompressed',
    ['unknowable', 'unverifiable/claim_ambiguous'],
    ({ world, nginx, host, url }) => {
      nginx.putCompressed(host, 'zip/bomb.txt', new Uint8Array(40 * 1024 * 1024))
      return world.claim(url('zip/bomb.txt'), { ...world.soon(), params: { content_fingerprint: bytesOf('bomb') } })
    },
  ),
  trap('a compressed file has the claimed content', ['in_time', 'verified'], ({ world, nginx, host, url }) => {
    nginx.putCompressed(host, 'zip/news.txt', new TextEncoder().encode(TEXT))
    return world.claim(url('zip/news.txt'), { params: { content_fingerprint: bytesOf(TEXT) } })
  }),
  trap(
    'a page of a few bytes a second',
    ['unknowable', 'unverifiable/destination_unavailable'],
    ({ world, nginx, host, url }) => {
      nginx.put(host, 'slow/news.txt', TEXT.repeat(100))
      return world.claim(url('slow/news.txt'), world.soon())
    },
  ),
]
