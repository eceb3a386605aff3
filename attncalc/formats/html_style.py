"""How the HTML page looks: light and dark, wide and narrow, and on paper. Nothing is fetched from another place."""

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#59636e;--line:#d1d9e0;--link:#0b57a4;
--shade:38 110 200}
@media screen and (prefers-color-scheme:dark){
:root{--ink:#e4e8ec;--paper:#14181d;--soft:#9da7b1;--line:#3a434d;--link:#7ab8ff;--shade:80 150 255}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;color:var(--ink);background:var(--paper);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif;
overflow-wrap:anywhere}
h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em}
h1{font-size:1.7rem;margin-top:0}
h2{font-size:1.3rem;border-bottom:1px solid var(--line);padding-bottom:.2em}
h3{font-size:1.1rem}
h4{font-size:1rem;margin:1.2em 0 .3em}
h2 a,h3 a,h4 a{color:inherit;text-decoration:none}
h2 a:hover,h3 a:hover,h4 a:hover,:target>h2 a,:target>h3 a,:target>h4 a{color:var(--link);text-decoration:underline}
p{margin:.4em 0}
ul{margin:.4em 0;padding-left:1.3em}
math{font-size:1.08em;text-indent:0;overflow-wrap:normal}
mtd{text-align:right;text-align:-webkit-right;padding:.18em .45em}
.f{overflow-x:auto;overflow-y:hidden;padding:.15em 0 .15em 2em;text-indent:-2em}
.f math,td math{math-style:normal}
.f.on{text-indent:0}
div.row{display:flex;flex-wrap:wrap;align-items:center;text-indent:0;padding-left:0}
div.on.row{padding-left:2em}
.beside{display:flex;flex-wrap:wrap;align-items:center;column-gap:2.5em;margin:.5em 0}
.beside>*{max-width:100%}
.formula{margin:.7em 0}
.work{display:grid;grid-template-columns:fit-content(16rem) minmax(0,1fr);
gap:.15em 1.2em;align-items:baseline;margin:.4em 0}
.work>div{display:contents}
dt{color:var(--soft)}
dd{margin:0;min-width:0}
.led{display:flex;align-items:center;max-width:100%;min-width:0}
.led>.scroll{min-width:0}
.led math,.row>math{flex:none;max-width:100%}
.scroll{overflow-x:auto;max-width:100%}
span.scroll{display:inline-block;vertical-align:middle}
table{border-collapse:collapse;margin:.5em 0;overflow-wrap:normal}
th,td{padding:.25em .6em;text-align:left;vertical-align:top}
th{font-weight:600}
.table th,.table td{border-bottom:1px solid var(--line)}
.matrix{margin:.2em .3em}
.matrix caption{font-size:.85em;color:var(--soft)}
.matrix th,.matrix td{padding:.1em .5em;text-align:right;vertical-align:baseline;position:relative}
.matrix th{font-weight:400;color:var(--soft);max-width:14em;overflow-wrap:break-word}
.matrix thead th{vertical-align:bottom}
.matrix .l::before,.matrix .r::after{content:"";position:absolute;top:0;bottom:0;width:.3em;border:0 solid}
.matrix .l::before{left:0;border-left-width:1.5px}
.matrix .r::after{right:0;border-right-width:1.5px}
.matrix tbody tr:first-child .l::before,.matrix tbody tr:first-child .r::after{border-top-width:1.5px}
.matrix tbody tr:last-child .l::before,.matrix tbody tr:last-child .r::after{border-bottom-width:1.5px}
.blank{display:inline-block;border-bottom:1px solid var(--ink);height:1.2em}
.grid th,.grid td{border:1px solid var(--soft);text-align:center;vertical-align:middle}
.grid td{height:2.6em}
td>.blank:only-child{border:0}
.space{border:1px solid var(--line);margin:.6em 0}
@media (max-width:40rem){
.work{grid-template-columns:minmax(0,1fr)}
dd{padding-left:1em;margin-bottom:.3em}
.f,.f.on{padding-left:1.2em}
.f{text-indent:-1.2em}
div.row{padding-left:0}
div.on.row{padding-left:1.2em}}
@media print{
@page{size:A4;margin:16mm}
:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#333;--line:#999;--link:#000}
body{max-width:none;padding:0;font-size:10pt}
.f,.scroll{overflow:visible}
.table,.matrix th{overflow-wrap:anywhere}
h1,h2,h3,h4{break-after:avoid}
.f,tr,li,.work>div,.grid,.space,section:has(>.scroll>.grid,>.space){break-inside:avoid}
.grid td{height:9mm;min-width:14mm}
thead{display:table-header-group}}
"""


def shades(count: int) -> str:
    """Behind a figure, the darker the larger it is; the figure itself stays as it is."""
    steps = (f".w{k}{{background:rgb(var(--shade)/{0.45 * k / count:.3g})}}" for k in range(1, count + 1))
    return "".join(steps) + "\nmtd[class],td[class]{print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
