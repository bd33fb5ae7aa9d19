/**
 * Personal data in texts: mail addresses, home folders, hosts, secrets of services. By patterns: it knows no names of people, so a name
 * in a sentence stays. Pure.
 */

type Replacement = readonly [pattern: RegExp, by: string]

const replacements: readonly Replacement[] = [
  // The credentials of an address, before what looks like a mail address in it.
  [/(?<=:\/\/)[^\s/@:]+(?::[^\s/@]*)?@/g, ''],
  [/(?<![\w.+-])[\w.+%-]{1,80}@[a-z\d-]{1,80}(?:\.[a-z\d-]{1,60}){0,6}\.[a-z]{2,24}(?![\w-])/gi, '(mail address)'],
  // `alice@node17:/data`, `ssh alice@node17`; not `recall@k`.
  [/(?<![\w.+-])[a-z_][\w.-]*@[a-z\d][\w.-]*(?=:[~/.\w])/gi, '(host)'],
  [/(?<=\b(?:ssh|scp|rsync|sftp)\s+(?:-\w{1,9}\s+\S{1,40}\s+){0,3})[a-z_][\w.-]*@[a-z\d][\w.-]*/gi, '(host)'],
  [/(?:[a-z]:)?(?:[\\/][\w.-]{1,40}){0,4}?[\\/]{1,4}(?:home|homes|users)[\\/]+[^\\/\s"'`,;:()[\]{}<>|]+/gi, '~'],
  [/(?<=[\\/](?:scratch|lustre|gpfs|nfs)[\\/])[^\\/\s"'`,;:()[\]{}<>|]+/gi, '…'],
  [/(?<![\w~])~[a-z][\w.-]*(?=[\\/])/gi, '~'],
  [/(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.]*\d)/g, '(host)'],
  [/(?<![\w.-])(?:ip-\d+-\d+-\d+-\d+|ec2-[\d-]+)(?:\.[\w-]+)*/gi, '(host)'],
  [/(?<![\w.-])[a-z\d][\w-]*(?:\.[\w-]+)*\.(?:local|lan|internal|intranet|corp|home\.arpa)(?![\w.-]*\w)/gi, '(host)'],
  [/\b(host_?name|user_?name|hostname|logname)\s*=\s*[^\s,;)\]}"']+/gi, '$1=…'],
  [/(?<![\w-])(?:sk|pk|rk)-[\w-]{20,}/g, '(secret)'],
  [/(?<!\w)(?:hf_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AIza|AKIA|ASIA)[\w-]{16,}/g, '(secret)'],
  [/\b(api_?key|token|password|passwd|secret)\s*[=:]\s*["']?[^\s,;)\]}"']{6,}["']?/gi, '$1=…'],
]

/** The text without them; each leaves a word that says what was there. The same text where there is nothing. */
export function withoutPersonalData(text: string): string {
  // Most texts have none of the signs that every pattern needs.
  if (
    !/[@/\\~]|\d\.\d+\.\d|\.(?:local|lan|internal|intranet|corp|home)|-\w{20}|[_-]\w{16}|AIza|A[KS]IA|ip-\d|ec2-|(?:name|key|token|passwd|password|secret)\s*[=:]/i.test(
      text,
    )
  ) {
    return text
  }
  return replacements.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text)
}

const names =
  'host hostname host_name node nodename node_name machine machine_name user username user_name login logname email e_mail mail author ' +
  'owner argv args sys_argv cmd command command_line cmdline launch_command executable cwd workdir work_dir working_dir ' +
  'working_directory home home_dir homedir ip ip_address password passwd secret api_key apikey access_key access_token auth_token ' +
  'hf_token wandb_api_key credentials ssh_key slurm_job_user'
const personalNames = new Set(names.split(' '))

/** Whether an option of this name says who, where or how something was started; also behind a path (`slurm.user`). */
export function isPersonalName(name: string): boolean {
  const word = name
    .replace(/^.*[./]/, '')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^_+/, '')
  return personalNames.has(word) || /(^|_)(api_key|secret|password)$/.test(word)
}
