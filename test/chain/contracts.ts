/** Puts the contracts of the Ethereum Attestation Service on a chain, from the artifacts that its authors publish. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export interface Contracts {
  readonly eas: string
  readonly schemaRegistry: string
}

type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>

const PREDEPLOYS: Contracts = {
  schemaRegistry: '0x4200000000000000000000000000000000000020',
  eas: '0x4200000000000000000000000000000000000021',
}

export async function deployContracts(rpc: Rpc, predeploys: boolean): Promise<Contracts> {
  const [deployer] = (await rpc('eth_accounts')) as string[]

  async function deploy(bytecode: string): Promise<string> {
    const receipt = (await rpc('eth_sendTransactionSync', { from: deployer, data: bytecode })) as {
      readonly contractAddress: string
    }
    return receipt.contractAddress
  }

  async function move(from: string, to: string): Promise<string> {
    await rpc('anvil_setCode', to, await rpc('eth_getCode', from, 'latest'))
    return to
  }

  let schemaRegistry = await deploy(creationCode('SchemaRegistry'))
  if (predeploys) schemaRegistry = await move(schemaRegistry, PREDEPLOYS.schemaRegistry)
  let eas = await deploy(creationCode('EAS') + schemaRegistry.slice(2).padStart(64, '0'))
  if (predeploys) eas = await move(eas, PREDEPLOYS.eas)
  return { eas, schemaRegistry }
}

function creationCode(contract: string): string {
  const require = createRequire(import.meta.url)
  const name = `@ethereum-attestation-service/eas-contracts/artifacts/contracts/${contract}.sol/${contract}.json`
  return (JSON.parse(readFileSync(require.resolve(name), 'utf8')) as { bytecode: string }).bytecode
}
