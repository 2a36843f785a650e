/** Tells an answer of what stands before a site, such as a challenge for robots, from an answer of the site. */
import type { Taken } from './fingerprint.ts'

/** All that is given has to be there. */
interface Wall {
  readonly by: string
  readonly header?: readonly [name: string, value: RegExp]
  /** How a cookie that the answer sets begins. */
  readonly cookie?: string
  /** Markup of the challenge's own: a page that writes about it has it escaped, or has other markup around the word. */
  readonly markup?: RegExp
  /** The page has nothing to read beside it. */
  readonly isBare?: true
}

const ANY = /./

/**
 * What the makers say, or their programs show, that only a challenge or a refusal has. What they put on every answer, such as `cf-ray`,
 * `x-iinfo` or the cookies of their statistics, is no mark by itself.
 */
const WALLS: readonly Wall[] = [
  // developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response
  { by: 'Cloudflare', header: ['cf-mitigated', ANY] },
  { by: 'Cloudflare', markup: /<script\b[^>]{0,300}>[^<]{0,400}\b_cf_chl_opt\s*=/i },
  // docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html
  { by: 'AWS WAF', header: ['x-amzn-waf-action', ANY] },
  { by: 'Vercel', header: ['x-vercel-mitigated', ANY] },
  { by: 'Vercel', header: ['x-vercel-challenge-token', ANY] },
  // docs.datadome.co/reference/validate-request
  { by: 'DataDome', header: ['x-dd-b', /^[1-9]/] },
  { by: 'DataDome', header: ['x-datadome', ANY], markup: /<(?:script|iframe)\b[^>]{0,300}captcha-delivery\.com\//i },
  { by: 'SiteGround', header: ['sg-captcha', ANY] },
  { by: 'SiteGround', markup: /<meta\b[^>]{0,300}http-equiv=["']?refresh[^>]{0,300}\/\.well-known\/(?:sg)?captcha\//i },
  { by: 'Sucuri', header: ['x-sucuri-block', ANY] },
  { by: 'Sucuri', markup: /<script\b[^>]{0,300}>[^<]{0,400}\bsucuri_cloudproxy_js\s*=/i },
  { by: 'Yandex', header: ['x-yandex-captcha', ANY] },
  { by: 'Alibaba', header: ['bxpunish', ANY] },
  { by: 'Imunify360', header: ['server', /^imunify360/i] },
  // fastly.com/documentation/guides/next-gen-waf/using-ngwaf/rules/using-client-challenges
  { by: 'Fastly', cookie: '_fs_ch_st_' },
  // github.com/TecharoHQ/anubis: the test cookie, and the pages of its challenges
  { by: 'Anubis', cookie: 'techaro.lol-anubis-cookie-verification' },
  { by: 'Anubis', header: ['refresh', /\/\.within\.website\/x\/cmd\/anubis\//] },
  { by: 'Anubis', markup: /<(?:script|meta)\b[^>]{0,300}(?:\bid=["']?anubis_|\/\.within\.website\/x\/cmd\/anubis\/)/i },
  { by: 'Akamai', cookie: 'sec_cpt' },
  { by: 'Akamai', markup: /<div\b[^>]{0,300}\bid=["']?sec-if-cpt-container/i },
  { by: 'Imperva', markup: /<iframe\b[^>]{0,300}\/_Incapsula_Resource\b/i },
  // Its script is on pages of the site, too.
  { by: 'Imperva', markup: /<script\b[^>]{0,300}\/_Incapsula_Resource\b/i, isBare: true },
  { by: 'HUMAN', markup: /<div\b[^>]{0,300}\bid=["']?px-captcha/i },
  { by: 'DDoS-Guard', header: ['server', /^ddos-guard/i], markup: /<title>\s*ddos-guard\s*<\/title>/i },
  { by: 'F5', markup: /<noscript>\s*Please enable JavaScript to view the page content\.[\s\S]{0,40}\bsupport ID/i },
]

/** It was not the site that answered, or only to keep the asker out. */
export function isWall(answer: Pick<Taken, 'headers' | 'opening'>): boolean {
  return WALLS.some((wall) => isOf(answer, wall))
}

function isOf({ headers, opening = '' }: Pick<Taken, 'headers' | 'opening'>, wall: Wall): boolean {
  const { header, cookie, markup, isBare = false } = wall
  if (header && !header[1].test(headers.get(header[0]) ?? '')) return false
  if (cookie !== undefined && !headers.getSetCookie().some((one) => one.startsWith(cookie))) return false
  return (markup === undefined || markup.test(opening)) && (!isBare || !/\w/.test(textOf(opening)))
}

function textOf(html: string): string {
  return html.replace(/<(script|style|noscript|title)\b[\s\S]*?<\/\1\s*>/gi, '').replace(/<[^>]*>/g, '')
}
