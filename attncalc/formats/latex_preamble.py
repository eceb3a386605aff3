"""What stands at the head of a LaTeX page: its packages, and the few commands that its lines are set with."""

PREAMBLE = r"""\usepackage[a4paper,margin=20mm]{geometry}
\usepackage{amsmath,graphicx,longtable}
\usepackage[table]{xcolor}
\usepackage{fontspec}
"""
CTEX = "\\usepackage[fontset=fandol,scheme=plain]{ctex}\n"
# A fragment may be read more than once, and where some of these packages are not loaded.
MACROS = r"""\ifdefined\attnhang\else\newdimen\attnhang\newsavebox\attnbox\fi
\providecommand\attnshade[1]{\ifdefined\cellcolor\cellcolor{black!#1}\fi}
\providecommand\attnfit[1]{% a matrix, smaller where it is wider than the line
  \hbox{\sbox\attnbox{$\displaystyle#1$}\ifdim\wd\attnbox>\dimexpr\linewidth-\attnhang-2em\relax
    \resizebox{\dimexpr\linewidth-\attnhang-2em\relax}{!}{\usebox\attnbox}\else\usebox\attnbox\fi}}
\providecommand\attnleft[1]{% how far in the lines of a formula go on
  \settowidth\attnhang{#1}\ifdim\attnhang>.4\linewidth\attnhang=2em\fi}
\providecommand\attnline[3][r]{{% what stands before the first sign, and a line that is broken below that sign
  \par\vskip2pt plus1pt\raggedright\noindent\renewcommand\arraystretch{1.1}%
  \relpenalty=10000\binoppenalty=10000\clubpenalty=0\widowpenalty=0\lineskiplimit=1pt\lineskip=4pt
  \hangindent=\attnhang\hangafter=1\sbox\attnbox{#2}%
  \ifdim\wd\attnbox>\attnhang\usebox\attnbox\else\makebox[\attnhang][#1]{\usebox\attnbox}\fi#3\par}}
"""
# Only on pages with something to fill in.
BLANKS = r"""\providecommand\attnrow{\rule[-3.5mm]{0pt}{9mm}}% a row of a grid, as tall as a hand writes
\providecommand\attnhead{\rule[-1.5mm]{0pt}{5.5mm}}
\providecommand\attnroom[1]{% room for so many lines
  \par\nopagebreak[3]\vskip4pt\noindent\framebox[\linewidth]{\rule{0pt}{\dimexpr8mm*#1\relax}}\par}
"""
FALLBACK = r"""% A sign that the font lacks: from another font that has it, or its number.
\ifdefined\attnglyph\else
  \IfFontExistsTF{DejaVu Sans}{\newfontfamily\attnfont{DejaVu Sans}}{\let\attnfont\normalfont}
  \IfFontExistsTF{Noto Sans CJK SC}{\newfontfamily\attncjk{Noto Sans CJK SC}}{\let\attncjk\normalfont}
  \newcommand\attnglyph[2]{{\ifdefined\makexeCJKinactive\makexeCJKinactive\fi
    \iffontchar\font"#2 #1\else\attnfont\iffontchar\font"#2 #1\else\attncjk\iffontchar\font"#2 #1\else
    \normalfont\footnotesize U+#2\fi\fi\fi}}
\fi
"""
