/**
 * Sentences about how a run went, as patterns: what a measured value did ("loss went down nicely", "accuracy up 2 %"), how the whole went
 * ("went great"), and single words of praise and regret. The subject decides: "went down to 8 layers" and "drop the learning rate" are
 * what was tried, and so is a loss that is a term of the objective ("auxiliary loss dropped").
 */

/** Ends of clauses, as in `outcome-phrases.ts`. */
export const clauseEnd = String.raw`(?=\s*(?:$|[),;.!—–]|\s-\s))`

/** Somewhere before a word in its clause; stands behind the word, where it is looked at least often. */
export const notHoped = String.raw`(?<!\b(?:may|might|could|should|would|can|will|must|expect(?:s|ed)?|aims?|goal|hope|hypothes[ie]s\w*|allow(?:s|ing)?|so that|in order to)\b[^.;:,()]{0,80})`

const which =
  '(?:(?:val|valid|validation|train|training|test|eval|evaluation|dev|final|overall|total|mean|average|best|smoothed)[ _-]?){0,3}'
/** Nobody sets these: what is said of them was seen. */
const observed = `${which}(?:loss(?:es)?|bpb|bpc|perplexity|ppl|accuracy|acc|error(?: rate)?|f1|auc|mfu|throughput|tps|latency)`
/** A word for a term of the objective, a name or a sign glued to the subject makes another thing of it. */
const notPart = String.raw`(?<![-_/.]|\b(?:aux\w*|z|kl|ce|mse|mtp|router|balanc\w+|distil\w*|contrastive|entropy|consistency|regulari[sz]\w+|value|policy|ranking|commitment|reconstruction|extra|second|weighted|\w+ing)\s+)`
/** These may be an option as well, so that only what cannot be done to an option tells. */
const perhapsSet = `(?:${observed}|reward|returns?|scores?|speed|memory(?: use| usage)?|vram|step time|grad(?:ient)? norms?|quality|performance|results?)`

/** Until the loss fell, when it rises: what the program waits for. */
const notAwaited = String.raw`(?<!\b(?:until|till|when|whenever|if|once|while|unless|after|before|where|as|whether|in case|each time|every time)\s+(?:\w+\s+){0,3})`
/** The subject begins a statement. */
const begins = String.raw`(?<=(?:^|[,.;:!?()[\]—–|\n]|\s-|->|→|=>|\b(?:and|but|so|then|now|with|the|our|its|my|this|since|because|yet|gave|gives|made|makes|saw))\s*)`
const beginsAlone = String.raw`(?<=(?:^|[,.;:!?()[\]—–|\n]|\s-|->|→|=>|\b(?:and|but|so|then|now|with))\s*)`
/** Scale the logits and the loss up: done to it. */
const notMoved = String.raw`(?<!\b(?:scal|turn|bring|push|mov|ramp|multipl|dial|weigh|weight|round|step|tun|shift|clamp)\w*\b[^.;:,()]{0,60})`

const adverb = String.raw`(?:(?:also|now|still|even|only|just|again|back|right|straight|all the way|steadily|quickly|sharply|further|slightly|clearly|significantly|way|much|very|really|pretty|quite|so|too|a bit|a little|a lot|barely|hardly|not)\s+){0,4}`
const praise = '(?:good|great|nice|well|nicely|fine|ok|okay|perfectly|beautifully|smoothly|amazing|excellent)'
const regret = '(?:bad|badly|poorly|wrong|terribly|terrible|awful|horribly|horrible|nowhere|sideways|south)'
const much = String.raw`(?:by|to|from|below|above|under)\s+(?:about\s+|around\s+|roughly\s+|almost\s+|nearly\s+|only\s+|just\s+|over\s+|more than\s+)?(?:[~≈]?\d|half\b|a\s)`
const how = String.raw`(?:${clauseEnd}|(?=\s+(?:${much}|again|further|nicely|slightly|sharply|quickly|steadily|significantly|fast|in half|a\s+(?:bit|little|lot|tad)|but|[~≈]?\d)))`

const anySubject = `(?:${perhapsSet}|training|curves?)`
const moves = String.raw`(?:went|goes|going|came|comes|crept|shot)\s+${adverb}(?:up|down|flat|nan|(?:from|to)\s+[~≈]?\d|${praise}|${regret})(?![-\w])`
const movesAlone = String.raw`(?:fell|rose|climbed|sank|shrank|worsened|tanked|cratered|spiked|jumped|plunged|plummeted|soared|skyrocketed|oscillated|stagnated|(?:barely|hardly)\s+(?:moved|changed)|kept\s+(?:falling|dropping|rising|climbing|growing|going|decreasing|increasing|improving))\b`
/** May be done to it as well ("the loss reduced over tokens"), so that how much has to follow, or the end. */
const mayBeDone = String.raw`(?:drop(?:s|ped)|decrease[sd]|increase[sd]|falls|rises|climbs|jumps|halved|doubled|tripled|reduced|lowered|raised)\b${how}`
const stands = String.raw`(?:is|are|was|were|looks?|looked|looking|seems?|seemed|got|gets|became|becomes|stay(?:s|ed)|remain(?:s|ed))\s+${adverb}(?:up|down|high|low|higher|lower|flat|nan|inf|(?:un)?stable|noisy|stuck|spiky|smooth|${praise}|${regret})${how}`
const predicates = [
  String.raw`${perhapsSet}\s+${adverb}(?:${moves}|${movesAlone})`,
  String.raw`${begins}(?:${observed}|speed)\s+${adverb}${mayBeDone}`,
  String.raw`${beginsAlone}${perhapsSet}\s+${adverb}(?:up|down)(?![-\w])${how}${notMoved}`,
  String.raw`${begins}${anySubject}\s+${stands}`,
]

const movements = [
  // The look ahead comes first: most places are left at their first letters.
  String.raw`\b(?=${anySubject}\s)${notPart}${notAwaited}(?:${predicates.join('|')})${notHoped}`,
  // "lowered the loss weight" was done; "lowered the loss" came of it.
  String.raw`\b(?:lowers|lowered|reduces|reduced|decreases|decreased|raises|raised|increases|increased|cuts|got|brought|brings|drove|drives|pushed|pushes)\s+(?:the\s+|our\s+|down\s+)?(?=\w)${observed}(?:\s+(?:down|up)\b)?(?:${clauseEnd}|(?=\s+(?:${much}|slightly|significantly|further|a\s+(?:bit|little|lot|tad)|in half)))(?<!\b(?:aux\w*|z|kl)[ -]loss)${notHoped}`,
  String.raw`\b(?:dropped|drops)\s+(?:the\s+|our\s+)?(?=\w)${observed}\s+${much}${notHoped}`,
  String.raw`(?<!\b(?:for|towards?|gets?|to|want|need|prefer|favou?r|with|of)\s+(?:(?:a|an|the|much|even)\s+){0,2})\b(?:lower|higher|smaller|less)\s+(?=\w)${observed}(?:${clauseEnd}|(?=\s+(?:than|now|but|after|too)\b))${notHoped}`,
  String.raw`\b(?:saw|made|makes|lets?)\s+(?:the\s+|our\s+)?(?=\w)${observed}\s+(?:go|drop|fall|rise|climb|explode|shrink|improve)(?:ing)?\b${notHoped}`,
  String.raw`\bloss(?:es)?\s+(?:(?:is|was)\s+)?(?:now|currently)\s+(?:at\s+)?[~≈]?\d`,
]

const judgements = [
  String.raw`(?<!\bwhat\s+)\b(?:went|goes|going)\s+${adverb}(?:${praise}|${regret})(?:${clauseEnd}|(?=\s+(?:with|but|and|so|here|overall|again|until|this time|on)\b))${notHoped}`,
  String.raw`\b(?:is|was|are|were|looks?|looked|looking|seems?|seemed|feels?|felt)\s+${adverb}(?:good|great|nice|bad|terrible|awful|horrible|amazing|excellent|promising|encouraging)(?:${clauseEnd}|(?=\s+(?:but|so|so far|here|overall|on|at|with)\b))(?<!\b(?:if|until|when|whether|once|what)\b[^.;:,()]{0,60})${notHoped}`,
  String.raw`\b(?:ran|runs|trained|trains|finished|converge[sd]|learn(?:s|ed)|generali[sz]e[sd])\s+${adverb}(?:fine|ok|okay|well|nicely|great|badly|poorly|smoothly)${clauseEnd}${notHoped}`,
  String.raw`\bwork(?:s|ed)\s+(?:${adverb})(?:nicely|perfectly|beautifully|badly|poorly|like a charm|as (?:hoped|intended|planned|expected))`,
  String.raw`\b(?:nicely|beautifully|terribly|horribly)${clauseEnd}`,
  String.raw`\bturn(?:s|ed) out\b|\b(?:pays|paid) off\b|\b(?:did|does|changed|gained|brought)\s+(?:absolutely\s+|almost\s+)?nothing${clauseEnd}|\bnothing\s+(?:changed|gained|happened)\b|\bto no avail\b|\bno (?:luck|dice)\b`,
  String.raw`\b(?:terrible|awful|horrible|horrendous|abysmal|disastrous|disaster|fantastic|awesome)\b`,
  String.raw`\b(?:not much|not a lot|hardly any|barely any)\s+(?:of\s+)?(?:an?\s+)?(?:gain|improvement|benefit|effect|difference|change|help|impact)\b`,
  String.raw`\b(?:gave|got|saw|brought)\s+(?:us\s+|me\s+)?(?:a|an|some)\s+(?:\w+\s+)?(?:boost|bump|lift|jump|drop|dip|win|gain|improvement|speed-?up|slow-?down)\b`,
  // Alone in its clause.
  String.raw`(?<=(?:^|[,.;!?(—–\n]|\s-)\s*)(?:(?:very|really|pretty|so|quite|not|not so|too)\s+){0,3}(?:good|great|bad|nice|meh|wow|yay|ouch|oops|ugh|sad|sadly|hooray|hurray|useless|excellent|amazing)(?:\s+(?:results?|news|idea|one|stuff|run))?${clauseEnd}`,
  String.raw`(?<=(?:^|[,.;!?(—–\n]|\s-)\s*)(?:about\s+|roughly\s+|almost\s+)?(?:the\s+)?(?:same|similar|identical)\s+(?:results?|scores?|accuracy|bpb|perplexity|val loss|validation loss)${clauseEnd}`,
]

export const outcomeStatements: readonly string[] = [...movements, ...judgements]
