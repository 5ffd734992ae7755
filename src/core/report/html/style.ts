/** The style of a report. The contrast of text is at least 4.5:1 in both color schemes; a test measures it. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f5f6f8;--card:#fff;--text:#1b2230;--muted:#566173;--edge:#dde2ea;--accent:#2353c4;--good:#14683a;--goodbg:#e3f4e9;--bad:#ab2119;--badbg:#fdecea;--warn:#7d5200;--warnbg:#fdf3da;--code:#eef1f6;--rail:#9aa6b8}
@media(prefers-color-scheme:dark){:root{--bg:#11141a;--card:#191e27;--text:#e7eaf0;--muted:#a5afbd;--edge:#2d3543;--accent:#90b6ff;--good:#7fdca3;--goodbg:#17301f;--bad:#ffa198;--badbg:#3a1d1c;--warn:#f3c969;--warnbg:#332a14;--code:#232a36;--rail:#5d6a7e}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header.page,main,footer{max-width:70rem;margin:0 auto;padding:0 1.25rem}
header.page{padding-top:1.5rem}
header.page p,.run>header p{margin:0;font-size:.8rem;letter-spacing:.04em}
h1{margin:.1rem 0 .5rem;font-size:clamp(1.5rem,4vw,2.1rem);line-height:1.25;letter-spacing:-.01em}
h2{font-size:1.35rem;line-height:1.3;margin:0}
h3{font-size:1.05rem;margin:0 0 .75rem}
h4{font-size:1rem;margin:0;line-height:1.4}
h5,h6{font-size:1rem;margin:1rem 0 .4rem}
h6{font-size:.92rem;color:var(--muted)}
a{color:var(--accent);text-underline-offset:.15em}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
code{background:var(--code);border-radius:4px;padding:.1em .35em}
pre{background:var(--code);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;margin:.6rem 0;line-height:1.5;overflow-wrap:normal}
pre code{background:none;padding:0;font-size:1em}
mark{background:var(--warnbg);color:var(--warn);border-radius:4px;padding:.05em .35em;font-size:.88em}
.muted,time{color:var(--muted)}
time{font-size:.82rem;white-space:nowrap;font-variant-numeric:tabular-nums}
.skip{position:absolute;left:-100vw;background:var(--card);padding:.5rem 1rem}
.skip:focus{left:1rem;top:1rem}
.card,.entry{background:var(--card);border:1px solid var(--edge);border-radius:12px;padding:.7rem 1.1rem;margin:0 0 .65rem}
.banner{background:var(--warnbg);color:var(--warn);border:1px solid currentColor;border-radius:12px;padding:.75rem 1.25rem;margin:0 0 1rem;font-weight:600}
dl{margin:0}dd{margin:0}
.facts{display:grid;gap:.3rem}
.facts>div{display:grid;align-items:baseline;grid-template-columns:7rem 1fr;gap:.75rem}
dt{color:var(--muted);font-size:.88rem}
.session>h2{margin:2.5rem 0 1rem;padding-top:1.5rem;border-top:3px solid var(--edge)}
.run{margin:1rem 0 0}.run+.run{margin-top:1.5rem;padding-top:1.5rem;border-top:3px solid var(--edge)}
.run>header{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem}
.run>header p{flex-basis:100%}
.goal{font-size:1.05rem;margin:.5rem 0 0}
.chip{display:inline-block;font-size:.78rem;font-weight:600;line-height:1.5;padding:.05rem .6rem;border-radius:99px;background:var(--code);color:var(--text);white-space:nowrap}
.chip.complete{background:var(--goodbg);color:var(--good)}
.chip.bad,.chip.blocked{background:var(--badbg);color:var(--bad)}
.chip.complete_with_gaps{background:var(--warnbg);color:var(--warn)}
.outcome{margin-top:.75rem}
.outcome h4{font-size:.88rem;color:var(--muted);margin:0 0 .25rem}
.outcome p{margin:.25rem 0 .6rem}
.outcome ul{margin:0;padding-inline-start:1.1rem}
.result{font-size:1.08rem}
.cols{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.75rem 2rem}
.broad{grid-column:1/-1}
.outcome table{width:100%;margin:0}
.graph{display:flex;gap:.5rem;overflow-x:auto;margin-top:.5rem}
.graph svg{flex:none}
.graph path{fill:none;stroke:var(--rail);stroke-width:2}
.graph path.blocked{fill:var(--bad);stroke:var(--card)}
.graph path.saved{fill:var(--warn);stroke:var(--card)}
.graph circle{stroke:var(--card);stroke-width:2}
.graph circle.done{fill:var(--accent)}
.graph circle.end{fill:var(--good)}
.graph circle.open{fill:var(--card);stroke:var(--rail)}
.graph path.tick{stroke:var(--card)}
.graph ol{list-style:none;margin:0;padding:0;min-width:0;flex:1}
.graph li{height:30px;line-height:30px;font-size:.92rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.graph li a{color:inherit;text-decoration:none}
.graph li a:hover{text-decoration:underline}
.graph .checkpoint,.graph .start,.graph .waiting,.graph .left{color:var(--muted)}
.graph .blocked_attempt{color:var(--bad)}
.graph .complete{color:var(--good);font-weight:600}
.graph b{font-size:.75rem;background:var(--code);color:var(--text);border-radius:99px;padding:.1rem .5rem;margin-inline-end:.35rem}
.line{margin:1.25rem 0}
.entry{border-left:4px solid var(--accent);scroll-margin-top:1rem}
.entry.start,.entry.checkpoint{border-left-color:var(--rail)}
.entry.start{padding-top:.3rem;padding-bottom:.3rem}
.entry.blocked_attempt{border-left-color:var(--bad)}
.entry:target{box-shadow:0 0 0 2px var(--accent)}
.entry>header,.head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .6rem}
.head{display:inline-flex;width:calc(100% - 1.5rem)}
.entry h4{max-width:calc(100% - 14rem)}
.entry>header time,.head time{margin-left:auto}
.sign{color:var(--accent)}
.start .sign,.checkpoint .sign{color:var(--muted)}
.blocked_attempt .sign{color:var(--bad)}
.number{color:var(--muted);font-weight:500;font-variant-numeric:tabular-nums}
.entry dl{margin:.4rem 0 0;display:grid;gap:.15rem;font-size:.92rem}
.entry dd ul{margin:0;padding-inline-start:1.1rem}
.said{margin:.4rem 0 0;font-size:.92rem}
.more ul{margin:.2rem 0;padding-inline-start:1.4rem}
.more{margin:.4rem 0 0;font-size:.88rem;color:var(--muted)}
.entry dl>div{display:grid;align-items:baseline;grid-template-columns:9rem 1fr;gap:.75rem}
.blocker{background:var(--badbg);border-radius:8px;padding:.6rem .9rem;margin:.6rem 0 0}
.blocker code{background:none;padding:0;color:var(--bad);font-weight:600}
.blocker p{margin:.2rem 0 0}
.note{margin:.5rem 0 0;unicode-bidi:isolate}
.note>:first-child{margin-top:0}.note>:last-child{margin-bottom:0}
.note p,.note li,.note h5,.note h6,.note td,.note th,dd,.goal{unicode-bidi:plaintext;text-align:start}
.note p,.note ul,.note ol{margin:.5rem 0}
.note p{white-space:pre-line}
.note ul,.note ol{padding-inline-start:1.4rem}
.note hr{border:0;border-top:1px solid var(--edge);margin:1rem 0}
.blocked_attempt .note{border-inline-start:3px solid var(--edge);padding-inline-start:.9rem}
blockquote{margin:.6rem 0;padding-inline-start:.9rem;border-inline-start:3px solid var(--rail);color:var(--muted)}
.wide{overflow-x:auto}
table{overflow-wrap:break-word}
table{border-collapse:collapse;font-size:.92rem;margin:.5rem 0}
th,td{text-align:start;vertical-align:top;padding:.35rem .75rem;border-bottom:1px solid var(--edge)}
th{font-size:.82rem;color:var(--muted);font-weight:600}
.timeline{width:100%}
.timeline td:nth-child(2){white-space:nowrap;color:var(--muted);font-variant-numeric:tabular-nums}
.artifact{margin:.5rem 0 0}.artifact table{margin:.3rem 0 0;width:100%}
summary{cursor:pointer}
summary h2,summary h3{display:inline;margin:0}
.fold{border-top:1px solid var(--edge);padding:.4rem 0}
.ending{margin:.25rem 0 0;padding-inline-start:1.25rem;color:var(--muted);font-weight:600}
.ending.complete{color:var(--good)}
.ending.complete_with_gaps{color:var(--warn)}
.gaps ul{list-style:none;margin:0;padding:0}
footer ul{margin:.3rem 0;padding-inline-start:1.2rem}
.gaps li{margin:.6rem 0 0}
.gaps li a{color:inherit}
footer{padding-bottom:2rem;color:var(--muted);font-size:.92rem}
footer h2{font-size:1rem}
footer p{margin:.3rem 0}
@media(max-width:36rem){header.page,main,footer{padding-left:.9rem;padding-right:.9rem}.card,.entry{padding:.85rem .9rem}.facts>div,.entry dl>div{grid-template-columns:1fr;gap:0}.entry h4{max-width:calc(100% - 2rem)}.entry>header time,.head time{margin-left:0;flex-basis:100%}.cols{grid-template-columns:minmax(0,1fr)}th,td{padding:.3rem .35rem}td:last-child{overflow-wrap:anywhere}}
@media print{mark{border:1px solid currentColor}:root{--bg:#fff;--card:#fff;--text:#000;--muted:#444;--edge:#bbb;--accent:#1d479f;--good:#14683a;--goodbg:#fff;--bad:#9c1c15;--badbg:#fff;--warn:#6b4600;--warnbg:#fff;--code:#f3f3f3;--rail:#777;color-scheme:light}body{font-size:10.5pt}header.page,main,footer{max-width:none;padding:0}header.page{padding-top:0}pre{white-space:pre-wrap;overflow-wrap:anywhere}.skip{display:none}h2,h3,h4,.entry>header{break-after:avoid}.outcome tr,.gaps li,.blocker{break-inside:avoid}.run{break-before:page}.run:first-of-type{break-before:auto}details::details-content{content-visibility:visible;block-size:auto}.graph,.wide{overflow:visible}}
`;

/** The content security policy of the page allows only the style with this hash. */
export const STYLE_HASH = 'sha256-fJ/aEIK8pDLD2k3Zklby0tz8K+lSf6LG5QMgclFlQuo=';
