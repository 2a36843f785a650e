/** Opens an address in the browser of this machine. */
import { spawn } from 'node:child_process'
import type { Env } from './profiles.ts'

/** The program that opens an address, and its arguments before the address; undefined without a display. */
function openerOf(platform: NodeJS.Platform, env: Env): readonly string[] | undefined {
  if (platform === 'darwin') return ['open']
  // The shell of `start` would interpret the address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** Opens an address. @param address http or https @returns whether a browser was asked */
export function openBrowser(address: string): Promise<boolean> {
  const [program, ...before] = openerOf(process.platform, process.env) ?? []
  if (program === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const child = spawn(program, [...before, address], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
